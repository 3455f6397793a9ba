// Loaded into Portkey before itself. As npm installs it, it answers every streamed request with the status 500 ("TypeError:
// immutable", its issue 1389): it adds headers to what `fetch` returned, which cannot be changed. A copy of them can.
const { fetch } = globalThis;

globalThis.fetch = async (...args) => {
  const response = await fetch(...args);
  if (response.headers.get("content-type")?.startsWith("text/event-stream")) {
    Object.defineProperty(response, "headers", { value: new Headers(response.headers) });
  }
  return response;
};
