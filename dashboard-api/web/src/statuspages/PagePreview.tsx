import type { CSSProperties } from "react";
import type { PageState } from "../api/statusPages";
import { StateIcon } from "../ui/StateIcon";
import { t } from "../words/t";
import { isColour } from "./contrast";
import { worst } from "./fold";
import { directionOf, say } from "./locales";
import "../styles/statuspages.css";

/** What a preview shows of a component. */
export interface Line {
  key: string;
  name: string;
  description: string;
  state: PageState;
  manual: boolean;
}

export interface Preview {
  title: string;
  description: string;
  language: string;
  accent: string;
  accentDark: string;
  groups: { key: string; name: string; lines: Line[] }[];
  /** Titles of what goes on. */
  posts: { id: number; title: string; state: string; announcement: boolean }[];
}

const DAYS = 45;

/** The page as it will be, with the states of now; its days are not counted here. */
export function PagePreview({ of, theme = "auto" }: { of: Preview; theme?: "auto" | "light" | "dark" }) {
  const words = of.language;
  const state = worst(of.groups.flatMap((group) => group.lines.map((line) => line.state)));
  const style = {
    ...(isColour(of.accent) ? { "--sp-accent-light": of.accent } : {}),
    ...(isColour(of.accentDark) ? { "--sp-accent-dark": of.accentDark } : {}),
  } as CSSProperties;
  return (
    <div className="sp" data-theme={theme} dir={directionOf(of.language)} lang={of.language} style={style}>
      <div className="sp-head">
        <b className="sp-title">{of.title || "…"}</b>
        {of.description && <p>{of.description}</p>}
      </div>
      <div className={`sp-banner sp-${state}`}>
        {state && <StateIcon state={state} size={26} />}
        <b>{say(words, `banner.${state ?? ""}`)}</b>
      </div>
      {of.posts.map((post) => (
        <div key={post.id} className="sp-card sp-post">
          <b>{post.title}</b>
          <span className="sp-tag">{say(words, post.announcement ? "announcement" : post.state)}</span>
        </div>
      ))}
      {of.groups
        .filter((group) => group.name || group.lines.length > 0)
        .map((group) => (
          <div key={group.key} className="sp-card">
            {group.name && <b className="sp-group">{group.name}</b>}
            <ul>
              {group.lines.map((line) => (
                <li key={line.key}>
                  <div className="sp-row">
                    <b>{line.name || "…"}</b>
                    <span className={`sp-state sp-${line.state}`}>
                      <StateIcon state={line.state} size={15} /> {say(words, line.state)}
                    </span>
                  </div>
                  {line.manual && <p className="sp-soft">{say(words, "by_hand")}</p>}
                  {line.description && <p className="sp-soft">{line.description}</p>}
                  {!line.manual && <Days />}
                </li>
              ))}
            </ul>
          </div>
        ))}
      <div className="sp-foot">
        {say(words, "feeds")}: <span className="sp-link">{t("Atom")}</span> · <span className="sp-link">{"RSS"}</span> ·{" "}
        <span className="sp-link">{say(words, "calendar")}</span>
      </div>
    </div>
  );
}

/** Where the 90 days will stand: they are of no state here. */
function Days() {
  return (
    <svg className="sp-days" viewBox={`0 0 ${DAYS * 8} 20`} preserveAspectRatio="none" aria-hidden>
      <path d={Array.from({ length: DAYS }, (_, i) => `M${i * 8 + 1} 1h5v18h-5z`).join("")} />
    </svg>
  );
}
