import { useId } from "react";

/** One of a few, each with what it means. */
export function Radios<T extends string>({
  label,
  value,
  of,
  onChange,
}: {
  label: string;
  value: T;
  of: readonly (readonly [value: T, label: string, what: string])[];
  onChange: (value: T) => void;
}) {
  const id = useId();
  return (
    <fieldset className="radios">
      <legend>{label}</legend>
      {of.map(([one, word, what]) => (
        <label key={one} className="radio">
          <input
            type="radio"
            name={id}
            aria-describedby={`${id}-${one}`}
            checked={value === one}
            onChange={() => onChange(one)}
          />
          <span>
            <b>{word}</b>
            <span className="muted" id={`${id}-${one}`}>
              {what}
            </span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}
