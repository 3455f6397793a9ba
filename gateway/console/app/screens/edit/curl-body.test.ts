import { expect, it } from "vitest";
import { curlBody } from "./curl-body.ts";

it.each([
  ["single quotes", `curl https://a.test/v1 -H 'A: b' -d '{"a": "it"}'`, '{"a": "it"}'],
  ["an apostrophe between single quotes", `curl a.test -d '{"a": "it'\\''s"}'`, `{"a": "it's"}`],
  ["double quotes", `curl a.test --data "{\\"a\\": \\"$B \\n\\"}"`, '{"a": "$B \\n"}'],
  [
    "escapes, as browsers copy them",
    `curl 'a.test' --data-raw $'{"a":"it\\'s\\\\n\\u00e9\\x21"}'`,
    `{"a":"it's\\né!"}`,
  ],
  ["lines that go on", `$ curl a.test \\\n  -H "A: $B" \\\n  -d '{\n  "a": 1.0\n}'\n`, '{\n  "a": 1.0\n}'],
  ["lines of Windows", `curl a.test \\\r\n  --json '{"a": 1}' \\\r\n  | jq .`, '{"a": 1}'],
  ["no space after the option", `curl -d'{"a": 1}' a.test`, '{"a": 1}'],
  ["options in one", `curl.exe -sSd '{"a": 1}' a.test`, '{"a": 1}'],
  ["a body that is not quite JSON, which the editor explains", `curl a.test -d '{"a": ...}'`, '{"a": ...}'],
  ["no body", "curl https://a.test/v1/models", undefined],
  ["a form", "curl a.test -d 'a=1&b={}'", undefined],
  ["a file", "curl a.test -d @body.json", undefined],
  ["a quote that does not end", `curl a.test -d '{"a": 1}`, undefined],
  ["another command", `echo '{"a": 1}'`, undefined],
  ["JSON", '{"curl ": "-d {}"}', undefined],
])("finds the body of a curl command: %s", (_, command, body) => {
  expect(curlBody(command)).toBe(body);
});
