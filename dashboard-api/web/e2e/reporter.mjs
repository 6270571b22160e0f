// Tells the Go tests of each browser test as it goes, one JSON object a line.
import { inspect } from "node:util";

export default async function* (events) {
  for await (const { type, data } of events) {
    const name = data.name === data.file ? "" : data.name; // "" is the file itself
    if (type === "test:dequeue" && name) yield line({ is: "begun", name });
    if (type === "test:pass") yield line({ is: data.skip === undefined ? "passed" : "skipped", name, why: data.skip });
    if (type === "test:fail") yield line({ is: "failed", name, why: why(data.details) });
    if (type === "test:stdout" || type === "test:stderr") yield line({ is: "said", why: data.message });
  }
}

/** What a test failed with; what the test runner makes of it is left out. */
const why = ({ error }) => inspect(error?.cause ?? error);

const line = (event) => `${JSON.stringify(event)}\n`;
