import { useEffect, useState } from "preact/hooks";
import { useSession } from "../app/session.js";

/** The server resolves it against its own folder. */
const SERVER_FOLDER = ".";

interface Props {
  readonly disabled: boolean;
  readonly onRun: (workingDirectory: string) => void;
}

/** Offers to run a message whose folder is missing in the folder of the server. */
export function RunInFolder({ disabled, onRun }: Props) {
  const { api } = useSession();
  const [folder, setFolder] = useState<string>();
  useEffect(() => {
    const leaving = new AbortController();
    // Not from the list of agents that is already loaded: the server may have moved since.
    api.agentTypes({ signal: leaving.signal }).then(
      ({ workingDirectory }) => setFolder(workingDirectory),
      () => undefined,
    );
    return () => leaving.abort();
  }, [api]);
  const name = folder ?? "the server’s folder";
  return (
    <button
      type="button"
      class="button small run-in"
      title={`Run in ${name}`}
      disabled={disabled}
      onClick={() => onRun(folder ?? SERVER_FOLDER)}
    >
      Run in {name}
    </button>
  );
}
