import type { State } from "../api/types";
import { stateWords } from "./words";

// Each state has its own outline and its own mark, so that it can be told in greyscale
// and at a glance: disc and check, triangle and exclamation, square and cross,
// diamond and wrench, broken ring and question, hollow ring and bars.
const outlines: Record<State, React.ReactNode> = {
  up: (
    <>
      <circle cx="10" cy="10" r="8.5" fill="currentColor" />
      <path d="m6.3 10.3 2.5 2.5 5-5.4" className="mark" />
    </>
  ),
  degraded: (
    <>
      <path
        d="M8.5 2.4a1.75 1.75 0 0 1 3 0l7 12.3a1.75 1.75 0 0 1-1.5 2.6H3a1.75 1.75 0 0 1-1.5-2.6z"
        fill="currentColor"
      />
      <path d="M10 7.2v4.1M10 14.2v.1" className="mark" />
    </>
  ),
  down: (
    <>
      <rect x="1.75" y="1.75" width="16.5" height="16.5" rx="3" fill="currentColor" />
      <path d="m6.8 6.8 6.4 6.4m0-6.4-6.4 6.4" className="mark" />
    </>
  ),
  maintenance: (
    <>
      <path
        d="M8.7 1.5a1.85 1.85 0 0 1 2.6 0l7.2 7.2a1.85 1.85 0 0 1 0 2.6l-7.2 7.2a1.85 1.85 0 0 1-2.6 0l-7.2-7.2a1.85 1.85 0 0 1 0-2.6z"
        fill="currentColor"
      />
      <path d="m6.6 13.4 3.9-3.9M13.3 6.1a2.6 2.6 0 1 0 .9 2.6l-1.7.5-1.2-1.2z" className="mark thin" />
    </>
  ),
  no_data: (
    <>
      <circle cx="10" cy="10" r="8" fill="none" stroke="currentColor" strokeWidth="1.6" strokeDasharray="3.1 3.18" />
      <path d="M8 8.1a2.05 2.05 0 1 1 3 1.8c-.7.4-1 .8-1 1.5m0 2.5v.1" className="line" />
    </>
  ),
  paused: (
    <>
      <circle cx="10" cy="10" r="8" fill="none" stroke="currentColor" strokeWidth="1.6" />
      <path d="M8 7.3v5.4m4-5.4v5.4" className="line" />
    </>
  ),
};

/** The state as a shape. With `label` it also says the word to screen readers. */
export function StateIcon({ state, size = 20, label = false }: { state: State; size?: number; label?: boolean }) {
  return (
    <svg
      className={`state-icon s-${state}`}
      width={size}
      height={size}
      viewBox="0 0 20 20"
      role={label ? "img" : undefined}
      aria-label={label ? stateWords[state] : undefined}
      aria-hidden={!label}
    >
      {outlines[state]}
    </svg>
  );
}
