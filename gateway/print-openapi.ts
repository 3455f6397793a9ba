import { openApiDocument } from "./openapi-document.ts";

process.stdout.write(`${await openApiDocument()}\n`);
