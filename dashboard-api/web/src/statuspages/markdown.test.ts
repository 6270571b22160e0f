import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { Markdown } from "./Markdown";
import texts from "./markdown.json";

// What differs without being seen: how signs are escaped, lines between blocks, where a link opens.
const plain = (html: string) =>
  html
    .replaceAll("&#x27;", "'")
    .replaceAll("&#39;", "'")
    .replaceAll("&#34;", '"')
    .replaceAll("&quot;", '"')
    .replaceAll("<br/>", "<br>")
    .replaceAll("<hr/>", "<hr>")
    .replaceAll(' target="_blank"', "")
    .replaceAll(/<br>\n?/g, "<br>")
    .replaceAll(/\n*(<\/?(?:p|ul|ol|li|blockquote|pre|h\d|hr)>)\n*/g, "$1")
    .trim();

// The same file is read by a test of the public page.
test.each(texts)("the preview shows what the page shows: $text", ({ text, html }) => {
  expect(plain(renderToStaticMarkup(createElement(Markdown, { text })))).toBe(plain(html));
});
