import type { ComponentChildren } from "preact";
import { useEffect, useErrorBoundary } from "preact/hooks";

interface GuardedProps {
  /** What it is, for people. */
  readonly what: string;
  /** What is drawn: if that changes, it is tried again. */
  readonly of?: unknown;
  readonly children: ComponentChildren;
}

/** Keeps what cannot be drawn from taking the rest of the page with it. */
export function Guarded({ what, of, children }: GuardedProps) {
  const [error, again] = useErrorBoundary();
  useEffect(() => {
    if (error !== undefined) {
      again();
    }
  }, [of]);
  if (error === undefined) {
    return <>{children}</>;
  }
  return (
    <p class="problem" role="alert">
      <span>
        {what} cannot be shown: {error instanceof Error ? error.message : String(error)}
      </span>
      <button class="button small" onClick={again}>
        Try again
      </button>
    </p>
  );
}
