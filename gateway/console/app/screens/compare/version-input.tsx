interface VersionInputProps {
  readonly label: string;
  readonly value: number;
  readonly newest: number;
  readonly choose: (version: number) => void;
}

/** A number, for a preset may have thousands of versions. */
export function VersionInput({ label, value, newest, choose }: VersionInputProps) {
  return (
    <label class="row">
      <span class="label">{label} v</span>
      <input
        class="input version-input"
        type="number"
        min={1}
        max={newest}
        value={value}
        onChange={(event) => {
          const version = event.currentTarget.valueAsNumber;
          if (version >= 1 && version <= newest) choose(version);
          else event.currentTarget.value = String(value);
        }}
      />
    </label>
  );
}
