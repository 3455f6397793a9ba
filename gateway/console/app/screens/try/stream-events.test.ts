import { describe, expect, it } from "vitest";
import { eventsOf } from "./stream-events.ts";

async function read(pieces: readonly string[]): Promise<string[]> {
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece));
      controller.close();
    },
  });
  const events: string[] = [];
  for await (const data of eventsOf(new Response(stream))) events.push(data);
  return events;
}

describe.each([
  ["LF", "\n"],
  ["CR", "\r"],
  ["CR LF", "\r\n"],
])("a stream whose lines end with %s", (_name, end) => {
  const stream = [": ping", "", "event: a", "data: {", "data: 1}", "", 'data:"2"', "", "data: [DONE]", "", ""].join(
    end,
  );

  it("is read event by event, wherever it is split", async () => {
    for (let cut = 0; cut <= stream.length; cut++) {
      expect(await read([stream.slice(0, cut), stream.slice(cut)]), `cut at ${cut}`).toEqual(["{\n1}", '"2"']);
    }
    expect(await read([...stream])).toEqual(["{\n1}", '"2"']);
  });

  it("may end with a gateway error whose lines end with LF", async () => {
    expect(await read([`data: 1${end}${end}`, "event: error\ndata: 2\n\n"])).toEqual(["1", "2"]);
    expect(await read([`data: 1${end}`, "\n\nevent: error\ndata: 2\n\n"])).toEqual(["1", "2"]);
  });
});
