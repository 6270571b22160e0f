import { CircleAlert } from "lucide-react";
import { useId } from "react";

/** Some of several, as chips. */
export function Checks<T extends string | number>({
  label,
  hint,
  error,
  of,
  chosen,
  onChange,
}: {
  label: string;
  hint?: string;
  error?: string | undefined;
  of: readonly (readonly [value: T, label: string])[];
  chosen: readonly T[];
  onChange: (chosen: T[]) => void;
}) {
  const id = useId();
  const described = [error && `${id}-error`, hint && `${id}-hint`].filter(Boolean).join(" ") || undefined;
  return (
    // biome-ignore lint/a11y/useSemanticElements: styled like the other fields
    <div className="field" role="group" aria-labelledby={id} aria-describedby={described}>
      <span className="label" id={id}>
        {label}
      </span>
      <div className="chips">
        {of.map(([value, text]) => (
          <label key={value} className="chip">
            <input
              type="checkbox"
              aria-invalid={error ? true : undefined}
              checked={chosen.includes(value)}
              onChange={(event) =>
                onChange(event.target.checked ? [...chosen, value] : chosen.filter((one) => one !== value))
              }
            />
            {text}
          </label>
        ))}
      </div>
      {error && (
        <p className="problem" id={`${id}-error`}>
          <CircleAlert size={14} aria-hidden /> {error}
        </p>
      )}
      {hint && (
        <p className="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}
