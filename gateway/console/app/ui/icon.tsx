const paths = {
  close: "M4 4l8 8M12 4l-8 8",
  copy: "M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z",
  done: "M3 8.5l3.5 3.5L13 4.5",
  search: "M7 2.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9zM10.5 10.5l3 3",
  down: "M4 6l4 4 4-4",
  next: "M6 3.5L10.5 8 6 12.5",
  back: "M10 3.5L5.5 8l4.5 4.5",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  plus: "M8 3v10M3 8h10",
  swap: "M2.5 5h11M10.5 2l3 3-3 3M13.5 11h-11M5.5 8l-3 3 3 3",
  warn: "M8 2.5l6 11H2zM8 6.5v3.5M8 12h.01",
  person: "M8 2.5a2.75 2.75 0 1 1 0 5.5 2.75 2.75 0 0 1 0-5.5zM2.75 13.5a5.25 5.25 0 0 1 10.5 0",
} as const;

/** A decorative icon: it adds nothing to the words beside it, or to the label of its button. */
export function Icon({ name }: { readonly name: keyof typeof paths }) {
  return (
    <svg class={`icon icon-${name}`} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={paths[name]} />
    </svg>
  );
}
