// As the API judges colours: by WCAG 2.2, against the surface of each theme.

import { locale, t } from "../words/t";

export const surfaces = { light: "#ffffff", dark: "#0f1720" } as const;
/** The colours of links when none was chosen. */
export const accents = { light: "#0b57d0", dark: "#8ab4f8" } as const;
export type Surface = keyof typeof surfaces;
export const MIN_CONTRAST = 4.5;

const written = /^#[0-9a-f]{6}$/i;

export const isColour = (text: string): boolean => written.test(text);

/** The ratio of two colours, 1 to 21; null for what is not written as #rrggbb. */
export function contrast(a: string, b: string): number | null {
  const la = luminance(a);
  const lb = luminance(b);
  if (la === null || lb === null) return null;
  return (Math.max(la, lb) + 0.05) / (Math.min(la, lb) + 0.05);
}

function luminance(colour: string): number | null {
  if (!isColour(colour)) return null;
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const c = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** Why a colour is refused; empty: it is not. */
export function colourProblem(colour: string, on: Surface): string {
  if (colour === "") return "";
  const ratio = contrast(colour, surfaces[on]);
  if (ratio === null) return t("Write it as {example}.", { example: accents.light });
  return ratio < MIN_CONTRAST ? t("This could not be read: choose a colour with more contrast.") : "";
}

const hundredths = new Intl.NumberFormat(locale(), { minimumFractionDigits: 2, maximumFractionDigits: 2 });
/** Never rounded up: 4.499 is not 4.5. */
export const ratioWord = (ratio: number): string =>
  t("{ratio} to 1", { ratio: hundredths.format(Math.floor(ratio * 100) / 100) });
