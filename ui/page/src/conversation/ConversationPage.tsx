import {
  type ArtifactVersion,
  chosenAgentOf,
  type ConnectionState,
  Conversation,
  currentTaskOf,
  innerRowKey,
  type Json,
  type Outgoing,
  ParleyError,
  rowsOf,
  StreamGap,
  view,
} from "@parley/client";
import { useEffect, useMemo, useState } from "preact/hooks";
import { usePanel } from "../app/panel-state.js";
import type { PanelId } from "../app/panels.js";
import { SidePanel } from "../app/SidePanel.js";
import { useSetting, useStore } from "../app/hooks.js";
import { formatRoute, type Route } from "../app/route.js";
import { useSession } from "../app/session.js";
import { idOf, usePendingQuestions } from "../questions/pending-questions.js";
import { QuestionPanel } from "../questions/QuestionPanel.js";
import { useReconnect } from "../connection/reconnect.js";
import { PastBar } from "../trace/PastBar.js";
import { usePast } from "../trace/past.js";
import { Composer, type Unsent } from "./Composer.js";
import { ConversationHeader } from "./ConversationHeader.js";
import { useResolvedLink } from "./resolved-link.js";
import { LinkNotFound } from "./LinkNotFound.js";
import { Outbox } from "./Outbox.js";
import { Queue } from "./Queue.js";
import { ConversationContext, StateContext, type Verbosity } from "./conversation-context.js";
import { useStopKey } from "./stop-key.js";
import { Thread } from "./Thread.js";

/** The page of one conversation. */
export function ConversationPage({ contextId, route }: { contextId: string; route: Route }) {
  const { api, contextList, outboxes } = useSession();
  const conversation = useMemo(() => {
    const outbox = outboxes.of(contextId);
    const created = outboxes.takeBegun(contextId);
    return new Conversation(api, contextId, { filter: { internal: true }, outbox, created });
  }, [api, contextId]);
  useEffect(() => () => conversation.close(), [conversation]);
  useReconnect(conversation);
  const state = useStore(conversation);
  const [{ panel, byHand }, setPanel] = usePanel(contextId, route);
  const [openedArtifact, setOpenedArtifact] = useState<ArtifactVersion>();
  const show = (id: PanelId | undefined, version?: ArtifactVersion): void => {
    setPanel(id);
    // A copy, so that a second click has an effect too.
    setOpenedArtifact(version && { ...version });
  };
  const openArtifact = useMemo(() => (version: ArtifactVersion) => show("artifacts", version), []);
  const [thoughts, setThoughts] = useSetting("thoughts", "normal");
  const [unsent, setUnsent] = useState<Unsent>({ text: "", n: 0 });
  const edits = useMemo(() => new Map<string, string>(), [contextId]);
  const [sentCount, setSentCount] = useState(0);
  const follow = useMemo(() => () => setSentCount((times) => times + 1), []);
  const { past, at, beyond, context, error } = usePast(contextId, route, state.shown);
  const shown = context && view(context);
  const rows = useMemo(() => (shown === undefined ? [] : rowsOf(shown)), [shown]);
  // Actions apply to now, even if the past is shown.
  const now = state.shown && view(state.shown);
  const active = now && currentTaskOf(now);
  const queue = now?.queue.filter((task) => task !== active) ?? [];
  const busy = active !== undefined;
  // The first message of a new conversation is in its place before the log has it.
  const first = at === undefined && rows.length === 0 ? state.outgoing.find(isAccepted) : undefined;
  const outgoing = state.outgoing.filter((one) => one !== first);
  const pendingCount = (now?.pendingInputs.length ?? 0) + (now?.pendingAuths.length ?? 0);
  // Changes here move the conversation in the list.
  useEffect(() => contextList.refresh(), [contextList, busy, pendingCount, now?.title]);
  const { resolved, notFound } = useResolvedLink(contextId, route);
  const taskId = resolved?.taskId ?? route.taskId;
  const rowKey = shown && innerRowKey(shown, taskId, resolved?.event);
  const link = useMemo(() => ({ taskId, rowKey }), [taskId, rowKey]);
  const asOf = at === undefined ? undefined : Date.parse(shown?.updatedAt ?? "") || 0;
  const contextValue = useMemo(
    () => ({
      conversation,
      past,
      thoughts: thoughts as Verbosity,
      route,
      link,
      busy,
      edits,
      openedArtifact,
      openArtifact,
      follow,
      asOf,
    }),
    [conversation, past, thoughts, route, link, busy, edits, openedArtifact, asOf],
  );
  const stop = (): void => {
    if (active !== undefined) {
      void conversation.cancel(active.taskId);
    }
  };
  const open = (now?.pendingInputs ?? []).map(idOf);
  useStopKey(busy && at === undefined, stop);
  const questions = usePendingQuestions(at === undefined ? now : undefined);
  const pending = questions.current && {
    question: questions.current,
    folded: questions.folded,
    onAnswer: (inputId: string, value: Json) => conversation.answer(inputId, value),
  };
  if (state.error !== undefined) {
    return <LoadError error={state.error} />;
  }
  return (
    <ConversationContext.Provider value={contextValue}>
      <StateContext.Provider value={context}>
        <div class="conversation" data-panel={panel} data-past={at !== undefined || undefined}>
          <div class="column">
            {shown === undefined ? (
              <Loading connection={state.connection} />
            ) : (
              <>
                <ConversationHeader
                  panel={panel}
                  onPanel={(id) => show(id === panel ? undefined : id)}
                  thoughts={thoughts}
                  onThoughts={setThoughts}
                  connection={state.connection}
                />
                <Thread
                  rows={rows}
                  loading={state.loading}
                  hasEarlier={at === undefined && (context?.base ?? 0) > 0}
                  alone={at === undefined && panel === undefined}
                  linkedAt={resolved?.seq}
                  sentCount={sentCount}
                  firstMessage={first?.message}
                />
              </>
            )}
            {/* Rendered from the start, so that the user can keep typing. */}
            <div class="bottom">
              {state.refused !== undefined && (
                <p class="problem toast" role="alert">
                  <span>{state.refused}</span>
                  <button type="button" class="button small" onClick={() => conversation.dismiss()}>
                    Dismiss
                  </button>
                </p>
              )}
              {(notFound || route.lost) && shown !== undefined && (
                <LinkNotFound last={state.shown?.seq ?? 0} />
              )}
              <Outbox outgoing={outgoing} onEdit={(text) => setUnsent({ text, n: unsent.n + 1 })} />
              {busy && <Queue queue={queue} pending={questions.current} />}
              {shown !== undefined &&
                (at === undefined ? (
                  <QuestionPanel questions={questions} />
                ) : (
                  <PastBar at={at} head={state.shown?.seq ?? at} beyond={beyond} error={error} />
                ))}
              <Composer
                contextId={contextId}
                agentId={chosenAgentOf(now)}
                busy={busy}
                unsent={unsent}
                onSend={(message) => {
                  void conversation.send(message);
                  follow();
                  return true;
                }}
                onStop={stop}
                loading={state.shown === undefined}
                pending={pending}
                open={open}
              />
            </div>
          </div>
          {panel !== undefined && shown !== undefined && (
            <SidePanel
              id={panel}
              byHand={byHand}
              request={openedArtifact}
              onClose={() => show(undefined)}
            />
          )}
        </div>
      </StateContext.Provider>
    </ConversationContext.Provider>
  );
}

function isAccepted({ messageId }: Outgoing): boolean {
  return messageId !== undefined;
}

function Loading({ connection }: { connection: ConnectionState | undefined }) {
  return (
    <p class="muted notice" role="status">
      {connection?.status === "waiting"
        ? `Can’t load the conversation yet: ${connection.reason}. Retrying automatically.`
        : "Loading…"}
    </p>
  );
}

function LoadError({ error }: { error: Error }) {
  const code = error instanceof ParleyError ? error.code : "";
  const deleted = code === "gone" || (error instanceof StreamGap && error.reason === "deleted");
  const words = deleted
    ? "This conversation was deleted."
    : code === "not-found"
      ? "This conversation does not exist, or you do not have access to it."
      : `This conversation cannot be shown: ${error.message}`;
  return (
    <div class="notice" role="alert">
      <p>{words}</p>
      <p>
        <a class="button" href={formatRoute({})}>
          Start another
        </a>{" "}
        {!deleted && (
          <button type="button" class="button muted" onClick={() => location.reload()}>
            Try again
          </button>
        )}
      </p>
    </div>
  );
}
