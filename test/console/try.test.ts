import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { dialectNames } from "../../gateway/dialects/dialect-name.ts";
import { findBrowser } from "../support/browser.ts";
import { type ConsolePage, type ConsoleUnderTest, openConsoleOf } from "../support/console-browser.ts";
import { type EchoStack, startEchoStack } from "../support/echo-stack.ts";
import { freshName } from "../support/fresh-name.ts";
import { answerWith, chunkOf, HostileUpstream, streamHead } from "../support/hostile-upstream.ts";
import { openTcpProxy } from "../support/tcp-proxy.ts";

const browserPath = await findBrowser();

describe.skipIf(!browserPath)("trying a preset in the console", { timeout: 180_000 }, () => {
  let underTest: ConsoleUnderTest<EchoStack>;
  let hostile: HostileUpstream;
  let on: ConsolePage;

  beforeAll(async () => {
    hostile = await HostileUpstream.start();
    const others = [{ name: "hostile", base_url: hostile.url, dialects: dialectNames, models: ["hostile/*"] }];
    underTest = await openConsoleOf(() => startEchoStack(others), browserPath ?? "");
    on = await underTest.newPage({ key: underTest.stack.apiKey });
  }, 180_000);

  afterAll(async () => {
    await underTest?.close();
    await hostile?.stop();
  });

  const button = (name: string, { page } = on) => page.getByRole("button", { name, exact: true });
  const answer = () => on.page.getByRole("region", { name: "The model’s answer" });

  /** Creates a chat/completions preset with the model, and opens its page with a message. */
  async function openWith(slug: string, model: string, message = "What is an invoice?"): Promise<void> {
    await underTest.stack.create(slug, { model, messages: [] });
    await open(slug, message);
  }

  async function open(slug: string, message: string, { page, open: openPath } = on): Promise<void> {
    await openPath(`/default/presets/${slug}`);
    await page.getByRole("heading", { level: 1, name: slug }).waitFor();
    await openPath(`/default/presets/${slug}/try`);
    await page.getByLabel("Message", { exact: true }).fill(message);
    await page.getByText(/^v\d+, /).waitFor();
  }

  /** Leaves a stream of the hostile upstream open after its first words. */
  function beginStream(): void {
    hostile.next.push((_request, socket) => {
      const event = {
        id: "1",
        object: "chat.completion.chunk",
        choices: [{ index: 0, delta: { content: "Half an " } }],
      };
      socket.write(streamHead);
      socket.write(chunkOf(`data: ${JSON.stringify(event)}\n\n`));
    });
  }

  it("shows the merged request and the source of each part", async () => {
    const slug = freshName("merged");
    const system = { role: "system", content: "Be brief.\nBe kind." };
    await underTest.stack.create(slug, { model: "echo/small", temperature: 0.5, messages: [system] });
    await open(slug, "What is an invoice?");
    await button("Show the merged request").press("Enter");
    const rows = on.page.getByRole("table", { name: "Fields of the merged request" }).locator("tbody tr");
    await rows.first().waitFor();
    const shown = await rows.evaluateAll((all) =>
      all.map((row) => [...row.children].map((cell) => cell.textContent?.replaceAll(/\s+/g, " ").trim() ?? "")),
    );
    const of = (field: string) => shown.find(([name]) => name === field);
    expect(of("model")).toEqual(["model", expect.stringContaining("echo/small"), "preset"]);
    expect(of("temperature")).toEqual(["temperature", "0.5", "preset"]);
    // A conversation is shown message by message, not as JSON.
    expect(of("messages[0] system")).toEqual(["messages[0] system", "Be brief. Be kind.", "preset"]);
    expect(of("messages[1] user")).toEqual(["messages[1] user", "What is an invoice?", "request"]);
    expect(await on.page.locator("pre", { hasText: "Be brief." }).innerText()).toBe("Be brief.\nBe kind.");
    await on.page.getByText("Merged with v1, which is served. Merging sends nothing to a model.").waitFor();
    expect(await on.axeViolations()).toEqual([]);
    expect(await on.faults()).toEqual([]);
  });

  it("shows the merged request of a version that is not served", async () => {
    await underTest.stack.create("pinned", { model: "echo/old", messages: [] });
    await underTest.stack.create("pinned", { model: "echo/new", messages: [] });
    await on.open("/default/presets/pinned/try?v=1");
    await on.page.getByLabel("Message", { exact: true }).fill("Hello");
    await on.page.getByText("v1, ").waitFor();
    await button("Show the merged request").press("Enter");
    await on.page.getByText("Merged with v1, which was asked for.").waitFor();
    await button("Send to the model").press("Enter");
    await on.page.getByText("pinned@1 by echo").waitFor();
    await expect.poll(() => answer().innerText()).toContain("model: echo/old");
  });

  it.each(dialectNames)("shows the streamed answer of %s and its upstream", async (dialect) => {
    const slug = freshName(`streamed-${dialect.replace("/", "-")}`);
    const body = dialect === "responses" ? {} : { messages: [], max_tokens: 99 };
    await underTest.stack.create(slug, { model: "echo/small", ...body }, { dialect });
    await open(slug, "What is an invoice?");
    await on.page.getByText(`v1, ${dialect}`).waitFor();
    await button("Send to the model").press("Enter");
    await on.page.getByText(`${slug}@1 by echo`).waitFor();
    await expect.poll(() => answer().innerText()).toMatch(/^model: echo\/small\n(.*\n)*user: What is an invoice\?$/);
    await on.page.getByRole("status").getByText("The answer is complete.").waitFor();
    expect(await on.axeViolations()).toEqual([]);
    expect(await on.faults()).toEqual([]);
  });

  it.each(dialectNames)("tries a draft of %s before it is served", async (dialect) => {
    const { page } = on;
    const slug = freshName(`drafted-${dialect.replace("/", "-")}`);
    const body = dialect === "responses" ? {} : { messages: [], max_tokens: 99 };
    await underTest.stack.create(slug, { model: "echo/small", ...body }, { dialect });
    await on.open(`/default/presets/${slug}/edit?from=1`);
    await page.getByLabel("System prompt").fill("Be kind.");
    await button("Try the draft").press("Enter");
    await page.getByText(`draft from v1, ${dialect}`).waitFor();
    expect(await page.title()).toBe(`Try a draft of ${slug} · Setpoint`);
    await page.getByLabel("Message", { exact: true }).fill("What is an invoice?");
    await button("Send to the model").press("Enter");
    await page.getByText("draft by echo").waitFor();
    const told = /^model: echo\/small\n(.*\n)*system: Be kind\.\nuser: What is an invoice\?$/;
    await expect.poll(() => answer().innerText()).toMatch(told);
    const key = underTest.stack.apiKey;
    const versions = await underTest.stack.request<{ total_count: number }>("GET", `/presets/${slug}/versions`, {
      key,
    });
    expect(versions.json.total_count).toBe(1);
    expect(await on.axeViolations()).toEqual([]);
    await page.getByRole("link", { name: "Back to editing" }).press("Enter");
    await expect.poll(() => page.getByLabel("System prompt").inputValue()).toBe("Be kind.");
    expect(await on.faults()).toEqual([]);
  });

  it("tries and reviews only what would be saved of a draft, and says what would not", async () => {
    const { page } = on;
    await underTest.stack.create("overfull", { model: "echo/small", messages: [] });
    await on.open("/default/presets/overfull/edit?from=1");
    await page.locator(".cm-content").focus();
    await page.keyboard.press("Control+a");
    await page.keyboard.insertText(
      '{"model": "echo/small", "seed": 1.0, "top_k": null, "max_output_tokens": 9, "user": "me"}',
    );
    const note = page.getByText("have no such field: max_output_tokens, user.");
    await button("Review the changes").press("Enter");
    await note.waitFor();
    await page.locator(".diff").getByText("1.0").first().waitFor();
    expect(await page.getByText("max_output_tokens", { exact: true }).count()).toBe(0);
    await page.goBack();
    await button("Try the draft").press("Enter");
    await note.waitFor();
    await page.getByLabel("Message", { exact: true }).fill("What is an invoice?");
    const sent = page.waitForRequest(/\/api\/v1\/chat\/completions$/);
    await button("Send to the model").press("Enter");
    const body = (await sent).postData() ?? "";
    expect(Object.keys(JSON.parse(body))).toEqual(["model", "seed", "messages", "stream"]);
    expect(body).toContain('"seed": 1.0');
    await page.getByText("draft by echo").waitFor();
    expect(await on.axeViolations()).toEqual([]);
    expect(await on.faults()).toEqual([]);
  });

  it("does not try a draft whose config has become invalid", async () => {
    const { page } = on;
    await underTest.stack.create("broken-since", { model: "echo/small", messages: [] });
    await on.open("/default/presets/broken-since/edit?from=1");
    await page.getByLabel("System prompt").fill("Be kind.");
    await button("Try the draft").press("Enter");
    await page.getByText("draft from v1, chat/completions").waitFor();
    await page.goBack();
    await page.locator(".cm-content").focus();
    await page.keyboard.press("Control+a");
    await page.keyboard.insertText('{"model": ');
    await page.getByText("This is not JSON").first().waitFor();
    await page.goForward();
    await page.getByText("Go back to editing to correct it.").waitFor();
    await page.getByLabel("Message", { exact: true }).fill("What is an invoice?");
    await button("Send to the model").press("Enter");
    expect(await page.getByText("draft by echo").count()).toBe(0);
    expect(await on.axeViolations()).toEqual([]);
    expect(await on.faults()).toEqual([]);
  });

  it("says that there is no draft, and who may not try one", async () => {
    await underTest.stack.create("undrafted", { model: "echo/small", messages: [] });
    await on.open("/default/presets/undrafted/try?draft=1");
    await on.page.getByText("There is no draft from v1 in this tab").waitFor();
    expect(await on.axeViolations()).toEqual([]);
    const other = await underTest.newPage({ key: underTest.stack.managementKey });
    await other.open("/default/presets/undrafted/edit?from=1");
    await button("Try the draft", other).focus();
    await other.page.getByRole("tooltip").getByText("A management key cannot call models.").waitFor();
  });

  it("sends on Ctrl-Enter, or merges if the key may not send", async () => {
    await openWith("hurried", "echo/small");
    await on.page.getByLabel("Message", { exact: true }).press("Control+Enter");
    await on.page.getByText("hurried@1 by echo").waitFor();
    const other = await underTest.newPage({ key: underTest.stack.managementKey });
    await other.open("/default/presets/hurried/try");
    await other.page.getByText("v1, ").waitFor();
    await other.page.getByLabel("Message", { exact: true }).fill("Hello");
    await other.page.keyboard.press("Control+Enter");
    await other.page.getByText("Merging sends nothing to a model.").waitFor();
  });

  it("says how to activate an inactive preset, even if that changed meanwhile", async () => {
    await openWith("resting", "echo/small");
    const setStatus = (status: string) =>
      underTest.stack.request("PATCH", "/presets/resting", { key: underTest.stack.apiKey, body: { status } });
    await setStatus("disabled");
    await button("Send to the model").press("Enter");
    const notice = on.page.locator(".notice");
    await notice.getByText("It is disabled, and requests that name it are refused.").waitFor();
    expect(await on.page.getByRole("alert").count()).toBe(0);
    expect(await button("Send to the model").getAttribute("aria-disabled")).toBe("true");
    expect(await on.axeViolations()).toEqual([]);
    await setStatus("archived");
    await on.page.reload();
    await notice.getByText("It is archived").waitFor();
    await notice.getByRole("link", { name: "the preset" }).click();
    await on.page.getByRole("heading", { level: 1, name: "resting" }).waitFor();
  });

  it("does not move the form if the preset cannot be loaded or is not active", async () => {
    await underTest.stack.create("unreachable");
    const other = await underTest.newPage({ key: underTest.stack.apiKey });
    await other.page.route("**/api/v1/presets/unreachable*", (route) => route.fulfill({ status: 503 }));
    await other.open("/default/presets/unreachable/try");
    await other.page.getByText("The preset could not be loaded").waitFor();
    await other.page.getByLabel("Message", { exact: true }).fill("Hello");
    const send = other.page.getByRole("button", { name: "Send to the model" });
    await send.focus();
    await other.page.getByRole("tooltip").getByText("It could not be loaded.").waitFor();
    expect(await other.shifts()).toEqual([]);
    await other.page.unroute("**/api/v1/presets/unreachable*");
    await other.page.getByRole("button", { name: "Try again" }).click();
    await expect.poll(() => send.getAttribute("aria-disabled")).toBeNull();
    const body = { status: "disabled" };
    await underTest.stack.request("PATCH", "/presets/unreachable", { key: underTest.stack.apiKey, body });
    await other.open("/default/presets/unreachable/try");
    await other.page.getByText("It is disabled, and requests").waitFor();
    expect(await other.shifts()).toEqual([]);
    await other.context.close();
  });

  it("shows that it waits for the first words of an answer", async () => {
    await openWith("silent", "hostile/any");
    const { page } = on;
    const waiting = page.getByRole("status").getByText("Waiting for the model");
    let answerNow = (): void => {};
    hostile.next.push((_request, socket) => {
      answerNow = () => {
        socket.write(streamHead);
        socket.write(chunkOf(`data: {"id":"1","choices":[{"index":0,"delta":{"content":"At last "}}]}\n\n`));
      };
    });
    await button("Send to the model").press("Enter");
    await waiting.waitFor();
    expect(await on.axeViolations()).toEqual([]);
    answerNow();
    await expect.poll(() => answer().innerText()).toContain("At last");
    expect(await waiting.count()).toBe(0);
    await button("Stop").press("Enter");
    expect(await on.faults()).toEqual([]);
  });

  it("stops an answer on request and keeps what has arrived", async () => {
    const words = Array.from({ length: 600 }, (_, n) => `word${n}`).join(" ");
    await openWith("slow", "echo/slow", words);
    await button("Send to the model").press("Enter");
    await expect.poll(() => answer().innerText()).toContain("word3 ");
    await button("Stop").press("Enter");
    await button("Stop").waitFor({ state: "detached" });
    const text = await answer().innerText();
    // A minute's worth of words is still to come.
    expect(text).not.toContain("word599");
    expect(await button("Send to the model").getAttribute("aria-disabled")).toBeNull();
    // Half an answer is not mistaken for a whole one, and the page does not scroll back to its top.
    await on.page.getByText("Stopped", { exact: true }).waitFor();
    await on.page.getByRole("status").getByText("Stopped.").waitFor();
    expect(await on.page.evaluate("document.activeElement.textContent")).toBe("Send to the model");
    expect(await on.page.getByRole("alert").count()).toBe(0);
    expect(await on.faults()).toEqual([]);
  });

  it("aborts the request when the page is left or the answer is stopped", async () => {
    await openWith("left", "hostile/any");
    for (const leave of [
      () => button("Stop").press("Enter"),
      () => on.page.getByRole("link", { name: "left" }).click(),
    ]) {
      beginStream();
      await button("Send to the model").press("Enter");
      await expect.poll(() => answer().innerText()).toContain("Half an");
      const { last } = hostile;
      expect(last.isClosed).toBe(false);
      await leave();
      await last.closed;
    }
    expect(await on.faults()).toEqual([]);
  });

  it("shows the upstream's error with the request id", async () => {
    await openWith("refused", "hostile/any");
    const error = { message: "No such deployment.", type: "invalid_request_error", param: null, code: null };
    hostile.next.push(answerWith(400, JSON.stringify({ error })));
    const answered = on.page.waitForResponse(/\/api\/v1\/chat\/completions$/);
    await button("Send to the model").press("Enter");
    const id = (await (await answered).headerValue("x-request-id")) ?? "";
    const alert = on.page.getByRole("alert");
    await alert.getByText("No such deployment.").waitFor();
    expect(id).not.toBe("");
    await alert.getByText(id).waitFor();
    expect(await on.axeViolations()).toEqual([]);
  });

  it.each([
    [JSON.stringify({ error: { message: "Incorrect API key provided." } }), "Incorrect API key provided."],
    ["go away", "It gave no reason."],
  ])("does not sign out if an upstream rejects the credential, and quotes the upstream: %s", async (body, words) => {
    const slug = freshName("unpaid");
    await openWith(slug, "hostile/any");
    hostile.next.push(answerWith(401, body));
    await button("Send to the model").press("Enter");
    const alert = on.page.getByRole("alert");
    await alert.getByText("The upstream hostile answered with status 401").waitFor();
    await alert.getByText(words).waitFor();
    expect(await on.page.getByLabel("Message", { exact: true }).inputValue()).toBe("What is an invoice?");
    expect(await on.page.getByRole("heading", { name: "Sign in" }).count()).toBe(0);
  });

  it("says where to choose another model if no upstream serves this one", async () => {
    const slug = freshName("unserved");
    await openWith(slug, "nobody/knows");
    await button("Send to the model").press("Enter");
    const alert = on.page.getByRole("alert");
    await alert.getByText("No upstream of this gateway serves nobody/knows for chat/completions requests.").waitFor();
    expect(await alert.innerText()).not.toContain("/api/");
    expect(await on.axeViolations()).toEqual([]);
    await alert.getByRole("link", { name: "Choose another model" }).click();
    await on.page.waitForURL(`**/presets/${slug}/edit?from=1`);
  });

  it("shows the latest result above the other", async () => {
    await openWith("both", "echo/small");
    const titles = () => on.page.getByRole("heading", { level: 2 }).allInnerTexts();
    await button("Send to the model").press("Enter");
    await on.page.getByRole("status").getByText("The answer is complete.").waitFor();
    await button("Show the merged request").press("Enter");
    await expect.poll(titles).toEqual(["The merged request", "Answer"]);
    await button("Send to the model").press("Enter");
    await expect.poll(titles).toEqual(["Answer", "The merged request"]);
  });

  it("shows that an answer broke off, with the request id and what had arrived", async () => {
    await openWith("broken", "hostile/any");
    beginStream();
    await button("Send to the model").press("Enter");
    await expect.poll(() => answer().innerText()).toContain("Half an");
    hostile.last.socket.destroy();
    const alert = on.page.getByRole("alert");
    await alert.getByText("The request failed").waitFor();
    await alert.getByText(/^Request /).waitFor();
    expect(await alert.innerText()).not.toContain("Something went wrong in the console");
    expect(await answer().innerText()).toContain("Half an");
  });

  it("shows that the connection to the gateway was lost", async () => {
    const { hostname, port } = new URL(underTest.stack.baseUrl);
    const proxy = await openTcpProxy({ host: hostname, port: Number(port) });
    await openWith("lost", "hostile/any");
    await on.page.goto(`http://${hostname}:${proxy.port}/console/default/presets/lost/try`);
    await on.page.getByLabel("Message", { exact: true }).fill("What is an invoice?");
    beginStream();
    await button("Send to the model").press("Enter");
    await expect.poll(() => answer().innerText()).toContain("Half an");
    proxy.cut();
    const alert = on.page.getByRole("alert");
    await alert.getByText("The answer broke off.").waitFor();
    await alert.getByText(/^Request /).waitFor();
    proxy.close();
  });

  it.each([
    ["an API key without it", "Your key does not have the permission inference."],
    ["a management key", "A management key cannot call models."],
  ])("tells %s why it cannot call a model, and still resolves", async (kind, reason) => {
    const { stack } = underTest;
    const reading = await stack.tenants.createKey(stack, { permissions: ["presets:read"] });
    const key = kind === "a management key" ? stack.managementKey : reading.secret;
    const slug = freshName("asked");
    await stack.create(slug, { model: "echo/small", messages: [] });
    const other = await underTest.newPage({ key });
    await open(slug, "What is an invoice?", other);
    await other.page.getByText(reason).first().waitFor();
    const send = button("Send to the model", other);
    expect(await send.getAttribute("aria-disabled")).toBe("true");
    const describedBy = (await send.getAttribute("aria-describedby")) ?? "";
    const described = await other.page.locator(`[id="${describedBy}"]`).textContent();
    expect(described).toContain(reason);
    await button("Show the merged request", other).press("Enter");
    await other.page.getByText("Merged with v1, which is served.").waitFor();
    expect(await other.axeViolations()).toEqual([]);
    expect(await other.faults()).toEqual([]);
    await other.context.close();
  });
});
