/** Values people often want, beside the field that takes any. */
export function Shortcuts<T>({
  label,
  of,
  chosen,
  onChoose,
}: {
  label: string;
  of: readonly (readonly [label: string, value: T])[];
  chosen: (value: T) => boolean;
  onChoose: (value: T) => void;
}) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: shortcuts for the field beside them
    <div className="chips" role="group" aria-label={label}>
      {of.map(([text, value]) => (
        <button key={text} type="button" className="chip" aria-pressed={chosen(value)} onClick={() => onChoose(value)}>
          {text}
        </button>
      ))}
    </div>
  );
}
