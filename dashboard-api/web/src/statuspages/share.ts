// What can be put elsewhere: badges as Markdown and HTML, and the addresses of feeds.

import { t } from "../words/t";

export interface Badge {
  /** On this installation. */
  path: string;
  markdown: string;
  html: string;
  shields: string;
}

const inMarkdown = (text: string): string => text.replaceAll(/[\\[\]]/g, "\\$&");
const inHtml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

/** The badge of a page, or of a component of it. */
export function badgeOf(base: string, address: string, name: string, component: number | null): Badge {
  const file = `${base}${component === null ? "" : `/components/${component}`}/badge`;
  const alt = t("Status of {name}", { name });
  return {
    path: new URL(`${file}.svg`).pathname,
    markdown: `[![${inMarkdown(alt)}](${file}.svg)](${address})`,
    html: `<a href="${inHtml(address)}"><img src="${inHtml(file)}.svg" alt="${inHtml(alt)}" height="20"></a>`,
    shields: `https://img.shields.io/endpoint?url=${encodeURIComponent(`${file}.json`)}`,
  };
}

export const feedsOf = (base: string) => [
  { name: t("Atom"), what: t("for feed readers and chats"), url: `${base}/feed.atom` },
  { name: "RSS", what: t("the same, older"), url: `${base}/feed.rss` },
  { name: t("JSON Feed"), what: t("the same, for programs"), url: `${base}/feed.json` },
  { name: t("Calendar"), what: t("maintenance windows, for calendars"), url: `${base}/calendar.ics` },
  { name: t("Summary"), what: t("as Atlassian Statuspage gives it"), url: `${base}/api/v2/summary.json` },
];
