import { expect, test } from "vitest";
import { type ImportLine, importBody, readImport } from "./transfer";

test("JSON is sent as it is, anything else as CSV", () => {
  expect(JSON.parse(importBody('\ufeff {"format":"x","targets":[{"url":"u"}]}', true))).toEqual({
    format: "x",
    targets: [{ url: "u" }],
    dry_run: true,
  });
  expect(JSON.parse(importBody('[{"url":"u"}]', false))).toEqual({ targets: [{ url: "u" }], dry_run: false });
  expect(JSON.parse(importBody("url,name\nhttps://a,A", true))).toEqual({
    csv: "url,name\nhttps://a,A",
    dry_run: true,
  });
  // What a file says of itself does not make an import of a dry run.
  expect(JSON.parse(importBody('{"targets":[],"dry_run":false}', true)).dry_run).toBe(true);
  expect(() => importBody('{"targets":[', true)).toThrow(SyntaxError);
});

const stream = (...chunks: (string | Uint8Array)[]) =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      const encoder = new TextEncoder();
      for (const chunk of chunks) controller.enqueue(typeof chunk === "string" ? encoder.encode(chunk) : chunk);
      controller.close();
    },
  });

test("lines are told as they come, however they are cut", async () => {
  const text =
    '{"line":1,"url":"u","name":"Zoë","outcome":"created"}\n{"line":2,"url":"v","name":"","outcome":"refused"}\n';
  const bytes = new TextEncoder().encode(text);
  const middle = bytes.indexOf(0xc3) + 1; // within a letter
  const seen: ImportLine[] = [];
  const end = await readImport(
    stream(bytes.slice(0, middle), bytes.slice(middle), '{"complete":{"created":1,"refused"', ":1}}\n"),
    (line) => seen.push(line),
  );
  expect(seen.map(({ line, name }) => [line, name])).toEqual([
    [1, "Zoë"],
    [2, ""],
  ]);
  expect(end).toEqual({ created: 1, refused: 1 });
});

test("an answer without its last line is a part", async () => {
  const seen: ImportLine[] = [];
  await expect(
    readImport(stream('{"line":1,"url":"u","name":"","outcome":"created"}\n'), (line) => seen.push(line)),
  ).rejects.toThrow("broke off");
  expect(seen).toHaveLength(1);
});
