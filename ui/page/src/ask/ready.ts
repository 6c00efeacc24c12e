import { useEffect, useState } from "preact/hooks";

/** What was meant for something else must not answer what has just come up under the hand. */
const READY_MS = 500;

/** True once a question has been there long enough to have been seen. */
export function useReady(): boolean {
  const [ready, setReady] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setReady(true), READY_MS);
    return () => clearTimeout(timer);
  }, []);
  return ready;
}
