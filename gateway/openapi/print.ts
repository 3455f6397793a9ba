import { openApiDocument } from "./document.ts";

process.stdout.write(`${await openApiDocument()}\n`);
