import { render } from "preact";
import { App } from "./shell/app.tsx";
import { followLinks } from "./shell/location.ts";
import { keepPreferences } from "./shell/preferences.ts";
import "./styles/index.css";

keepPreferences();
followLinks();
const root = document.getElementById("app");
if (root) render(<App />, root);
