import type { Problems } from "./problems";

/** What is wrong with a form as a whole; takes the focus. */
export function FormProblem({ problems }: { problems: Problems }) {
  if (!problems[""]) return null;
  return (
    <div className="banner bad" role="alert" tabIndex={-1}>
      <p>{problems[""]}</p>
    </div>
  );
}
