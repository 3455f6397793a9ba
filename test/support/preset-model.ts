import type { ChangeJson } from "./preset-answers.ts";

/** What a creation stores, as its answer shows it. */
interface ModelVersion {
  readonly config: Readonly<Record<string, unknown>>;
  readonly system_prompt: string | null;
  readonly dialect: string;
}

/** What an update may change. */
interface ModelFields {
  readonly name: string;
  readonly description: string | null;
  readonly status: string;
  readonly designated_version: number;
}

export interface ModelPreset extends ModelFields {
  readonly versions: readonly ModelVersion[];
  /** Oldest first. */
  readonly changes: readonly Pick<ChangeJson, "action" | "changes">[];
}

/** What a request must be answered with: a status, and the preset if it succeeds. */
export interface Expected {
  readonly status: number;
  readonly preset?: ModelPreset;
}

/** The rules of presets in their simplest form: what one caller after the other sees of a workspace. */
export class PresetModel {
  readonly presets = new Map<string, ModelPreset>();

  create(slug: string, version: ModelVersion, isStale: boolean): Expected {
    const before = this.presets.get(slug);
    if (isStale) return { status: 412 };
    if (before?.status === "archived") return { status: 409 };
    const number = (before?.versions.length ?? 0) + 1;
    return this.#store(slug, {
      ...(before ?? { name: slug, description: null, status: "active" }),
      designated_version: number,
      versions: [...(before?.versions ?? []), version],
      changes: [
        ...(before?.changes ?? []),
        {
          action: before ? "version_created" : "preset_created",
          changes: [{ field: "designated_version", from: before?.designated_version ?? null, to: number }],
        },
      ],
    });
  }

  update(slug: string, update: Partial<ModelFields>, isStale: boolean): Expected {
    if (Object.keys(update).length === 0) return { status: 400 };
    const before = this.presets.get(slug);
    if (!before) return { status: 404 };
    if (isStale) return { status: 412 };
    if (before.status === "archived" && update.status === "disabled") return { status: 409 };
    if ((update.designated_version ?? 1) > before.versions.length) return { status: 404 };
    const fields = ["name", "description", "status", "designated_version"] as const;
    const changes = fields
      .filter((field) => field in update && update[field] !== before[field])
      .map((field) => ({ field, from: before[field], to: update[field] }));
    if (changes.length === 0) return { status: 200, preset: before };
    return this.#store(slug, {
      ...before,
      ...update,
      changes: [...before.changes, { action: "preset_updated", changes }],
    });
  }

  #store(slug: string, preset: ModelPreset): Expected {
    this.presets.set(slug, preset);
    return { status: 200, preset };
  }
}
