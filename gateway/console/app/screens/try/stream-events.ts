// A line ends with CR, LF, or both in this order; an event with a line that is empty.
const lineEnd = /\r\n|\n|\r/;
const eventEnd = /(?:\r\n|\n|\r(?!\n)){2}/;

/** The data of each event of a stream, except for the marker at its end. */
export async function* eventsOf(response: Response): AsyncGenerator<string> {
  if (!response.body) return;
  let rest = "";
  const decoder = new TextDecoder();
  const reader = response.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    rest += decoder.decode(value, { stream: !done });
    const events = rest.split(eventEnd);
    rest = done ? "" : (events.pop() ?? "");
    for (const event of events) {
      const data = event
        .split(lineEnd)
        .flatMap((line) => (line.startsWith("data:") ? line.slice(5).trimStart() : []))
        .join("\n");
      if (data !== "" && data !== "[DONE]") yield data;
    }
    if (done) return;
  }
}
