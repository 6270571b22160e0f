import { t } from "../words/t";

// The first that fits: many say that they are several.
const browsers: Readonly<Record<string, RegExp>> = {
  Edge: /\bEdg(e|A|iOS)?\//,
  Opera: /\bOPR\//,
  [t("Samsung Internet")]: /\bSamsungBrowser\//,
  Firefox: /\b(Firefox|FxiOS)\//,
  Chrome: /\b(Chrome|Chromium|CriOS|HeadlessChrome)\//,
  Safari: /\bSafari\//,
  curl: /^curl\//,
};
const systems: Readonly<Record<string, RegExp>> = {
  Android: /\bAndroid\b/,
  iPhone: /\biPhone\b/,
  iPad: /\biPad\b/,
  Windows: /\bWindows\b/,
  macOS: /\bMac OS X\b|\bMacintosh\b/,
  ChromeOS: /\bCrOS\b/,
  Linux: /\bLinux\b/,
};

/** A browser as people recognise it, out of what it says of itself: "Firefox on Linux". */
export function device(userAgent: string): string {
  const name = (of: typeof browsers) => Object.keys(of).find((one) => of[one]?.test(userAgent));
  const browser = name(browsers);
  const system = name(systems);
  if (browser && system) return t("{browser} on {system}", { browser, system });
  return browser ?? system ?? (userAgent.split(/[\s/(]/)[0] || t("An unknown browser"));
}
