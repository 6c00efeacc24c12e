import type { ComponentChildren } from "preact";
import { useEffect, useErrorBoundary } from "preact/hooks";

interface ErrorBoundaryProps {
  /** The name of the content, for display. */
  readonly what: string;
  /** The rendered value: a change triggers a new attempt. */
  readonly of?: unknown;
  readonly children: ComponentChildren;
}

/** Contains rendering errors. */
export function ErrorBoundary({ what, of, children }: ErrorBoundaryProps) {
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
      <button type="button" class="button small" onClick={again}>
        Try again
      </button>
    </p>
  );
}
