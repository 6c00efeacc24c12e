import { titleOf } from "@parley/client";
import { formatRoute } from "../app/route.js";
import { useSession } from "../app/session.js";
import { useToNow } from "../insight/past.js";
import { Icon } from "../ui/Icon.js";
import { count } from "../ui/format.js";
import { useScene } from "./scene.js";

/** The ways that this conversation did not go on: what was left behind, and what forked off. */
export function Branches() {
  const { busy, conversation, view, past, asOf, follow } = useScene();
  const toNow = useToNow();
  const goOn = async (end: number): Promise<void> => {
    if (await conversation.rewindTo(end)) {
      toNow();
      follow();
    }
  };
  const { state } = useSession();
  const left = view.branches.filter((branch) => branch.messages.length > 0);
  const forks = state.contexts.filter((one) => one.forkedFrom?.contextId === view.contextId);
  const source = view.forkedFrom;
  const known = state.contexts.find((one) => one.contextId === source?.contextId);
  const base = (asOf === undefined ? conversation.get().shown : past.get().context)?.base ?? 0;
  if (left.length === 0 && forks.length === 0 && source === undefined && base === 0) {
    return (
      <p class="quiet">
        Nothing was left behind. When you go back, or change a message and run it again, what was
        there before is kept here.
      </p>
    );
  }
  return (
    <>
      {source !== undefined && (
        <p>
          This is a fork of{" "}
          <a href={formatRoute({ contextId: source.contextId, seq: source.atSeq })}>
            {known === undefined ? "another conversation" : titleOf(known)}
          </a>
          , at event {source.atSeq}.
        </p>
      )}
      {left.map((branch) => (
        <article class="branch" key={branch.rewoundAt}>
          <header>
            <Icon name="branches" />
            <span>
              Left at event {branch.rewoundAt}, {count(branch.messages.length, "message")}
            </span>
            <button
              class="button small"
              disabled={busy}
              onClick={() => void goOn(branch.stretch.last)}
            >
              Go on from its end
            </button>
          </header>
          <ol>
            {branch.messages.map((message) => (
              <li key={message.seq} data-role={message.role}>
                {message.content.slice(0, 400)}
              </li>
            ))}
          </ol>
        </article>
      ))}
      {base > 0 && (
        <p class="quiet">
          What was left behind before event {base} is not loaded.{" "}
          {asOf === undefined && (
            <button class="button small" onClick={() => conversation.live.earlier()}>
              Load earlier
            </button>
          )}
        </p>
      )}
      {forks.length > 0 && <h3>Forks</h3>}
      <ul class="forks">
        {forks.map((one) => (
          <li key={one.contextId}>
            <a href={formatRoute({ contextId: one.contextId })}>
              <Icon name="fork" /> {titleOf(one)}
            </a>{" "}
            <span class="quiet">at event {one.forkedFrom?.atSeq}</span>
          </li>
        ))}
      </ul>
    </>
  );
}
