import { useEffect, useState } from "preact/hooks";

/** Delay that prevents a click or key meant for something else from answering a new question. */
const READY_MS = 500;

/** True once a question has been visible long enough to be noticed. */
export function useReady(): boolean {
  const [ready, setReady] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setReady(true), READY_MS);
    return () => clearTimeout(timer);
  }, []);
  return ready;
}
