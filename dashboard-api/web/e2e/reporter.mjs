// Tells what runs the browser tests of each as it goes, one JSON object a line. By hand `--test-reporter=spec` reads better.
import { basename } from "node:path";
import { inspect } from "node:util";

const file = (path) => basename(path ?? "", ".test.mjs");

/** What a test failed with; what the test runner makes of it is left out. */
const why = ({ error }) => inspect(error?.cause ?? error);

export default async function* (events) {
  for await (const { type, data } of events) {
    const of = { file: file(data.file), name: data.name === data.file ? "" : data.name }; // "" is the file itself
    if (type === "test:dequeue" && of.name) yield line({ is: "begun", ...of });
    if (type === "test:pass") yield line({ is: data.skip === undefined ? "passed" : "skipped", why: data.skip, ...of });
    if (type === "test:fail") yield line({ is: "failed", why: why(data.details), ...of });
    if (type === "test:stdout" || type === "test:stderr") yield line({ is: "said", why: data.message, ...of });
  }
}

const line = (event) => `${JSON.stringify(event)}\n`;
