const name = "Probefleet"; // the same in every language

/** The mark: three bars, like the ticks of a target. */
export function Logo({ size = 24 }: { size?: number }) {
  return (
    <svg className="logo" width={size} height={size} viewBox="0 0 32 32" aria-hidden>
      <rect width="32" height="32" rx="8" fill="currentColor" />
      <g className="logo-bars">
        <rect x="6" y="8" width="4" height="16" rx="2" />
        <rect x="14" y="8" width="4" height="16" rx="2" />
        <rect x="22" y="8" width="4" height="16" rx="2" />
      </g>
    </svg>
  );
}

/** The mark and the name beside it. */
export function Brand({ size = 24 }: { size?: number }) {
  return (
    <>
      <Logo size={size} /> <span>{name}</span>
    </>
  );
}
