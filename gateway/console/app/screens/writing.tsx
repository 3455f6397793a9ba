export { Edit } from "./edit.tsx";
export { NewPreset } from "./new-preset.tsx";
export { Try } from "./try.tsx";
