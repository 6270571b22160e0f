import { expect, test } from "vitest";
import { textOf, typedOf } from "./escapes";

test("every text can be shown and reads back the same", () => {
  const controls = Array.from({ length: 33 }, (_, code) => String.fromCharCode(code));
  const texts = [
    "",
    "EHLO me\r\n",
    "a\nb",
    "a\r\r\nb",
    "\n\r\n\r",
    "\\n",
    "\\\\x41",
    "C:\\new\\table",
    "ä€😀\u007f",
    ...controls,
  ];
  for (const text of [...texts, texts.join("")]) {
    expect(textOf(typedOf(text))).toBe(text);
    expect(typedOf(text)).not.toMatch(/\r/);
  }
});

test("a line break is CR LF, escapes say the rest", () => {
  expect(typedOf("EHLO me\r\nQUIT\r\n")).toBe("EHLO me\nQUIT\n");
  expect(typedOf("a\nb\rc\td\u0000")).toBe("a\\nb\\rc\\td\\x00");
  expect(textOf("PING\n")).toBe("PING\r\n");
  expect(textOf("PING\r\n")).toBe("PING\r\n");
  expect(textOf("\\x00\\x1F\\t\\\\n\\n")).toBe("\u0000\u001f\t\\n\n");
  expect(textOf("a\\d \\x9 \\xff \\")).toBe("a\\d \\x9 \\xff \\");
});
