import {
  type ArtifactVersion,
  askedIn,
  type ConnectionState,
  Conversation,
  currentOf,
  innerPlace,
  type Json,
  ParleyError,
  rowsOf,
  StreamGap,
  view,
} from "@parley/client";
import { useEffect, useMemo, useState } from "preact/hooks";
import { usePanel } from "../app/opened.js";
import type { PanelId } from "../app/panels.js";
import { SidePanel } from "../app/SidePanel.js";
import { useSetting, useStore } from "../app/hooks.js";
import { formatRoute, type Route } from "../app/route.js";
import { useSession } from "../app/session.js";
import { idOf, useAsks } from "../ask/asks.js";
import { Dock } from "../ask/Dock.js";
import { useWatch } from "../connection/watch.js";
import { PastBar } from "../insight/PastBar.js";
import { usePast } from "../insight/past.js";
import { Composer, type Unsent } from "./Composer.js";
import { Header } from "./Header.js";
import { useLinked } from "./linked.js";
import { Nowhere } from "./Nowhere.js";
import { Outbox } from "./Outbox.js";
import { Queue } from "./Queue.js";
import { SettingContext, type Verbosity, ViewContext } from "./scene.js";
import { useStopKey } from "./stop.js";
import { Thread } from "./Thread.js";

/** One conversation: what was said and done, what is asked, and where to say more. */
export function ConversationPage({ contextId, route }: { contextId: string; route: Route }) {
  const { api, home, outboxes } = useSession();
  const conversation = useMemo(() => {
    const outbox = outboxes.of(contextId);
    return new Conversation(api, contextId, { filter: { internal: true }, outbox });
  }, [api, contextId]);
  useEffect(() => () => conversation.close(), [conversation]);
  useWatch(conversation);
  const state = useStore(conversation);
  const [{ panel, byHand }, setPanel] = usePanel(contextId, route);
  const [pressed, setPressed] = useState<ArtifactVersion>();
  const show = (id: PanelId | undefined, version?: ArtifactVersion): void => {
    setPanel(id);
    // Once more is as good as the first time.
    setPressed(version && { ...version });
  };
  const press = useMemo(() => (version: ArtifactVersion) => show("artifacts", version), []);
  const [thoughts, setThoughts] = useSetting("thoughts", "normal");
  const [unsent, setUnsent] = useState<Unsent>({ text: "", n: 0 });
  const edits = useMemo(() => new Map<string, string>(), [contextId]);
  const [said, setSaid] = useState(0);
  const follow = useMemo(() => () => setSaid((times) => times + 1), []);
  const { past, at, beyond, context, error } = usePast(contextId, route, state.shown);
  const shown = context && view(context);
  const rows = useMemo(() => (shown === undefined ? [] : rowsOf(shown)), [shown]);
  // Whatever is looked at, what is done is done now.
  const now = state.shown && view(state.shown);
  const active = now && currentOf(now);
  const queue = now?.queue.filter((task) => task !== active) ?? [];
  const busy = active !== undefined;
  const pending = (now?.pendingInputs.length ?? 0) + (now?.pendingAuths.length ?? 0);
  // What happens here moves the conversation in the list.
  useEffect(() => home.refresh(), [home, busy, pending, now?.title]);
  const { linked, nowhere } = useLinked(contextId, route);
  const taskId = linked?.taskId ?? route.taskId;
  const place = shown && innerPlace(shown, taskId, linked?.event);
  const link = useMemo(() => ({ taskId, place }), [taskId, place]);
  const asOf = at === undefined ? undefined : Date.parse(shown?.updatedAt ?? "") || 0;
  const setting = useMemo(
    () => ({
      conversation,
      past,
      thoughts: thoughts as Verbosity,
      route,
      link,
      busy,
      edits,
      pressed,
      press,
      follow,
      asOf,
    }),
    [conversation, past, thoughts, route, link, busy, edits, pressed, asOf],
  );
  const stop = (): void => {
    if (active !== undefined) {
      void conversation.cancel(active.taskId);
    }
  };
  const open = (now?.pendingInputs ?? []).map(idOf);
  useStopKey(busy && at === undefined, stop);
  const asks = useAsks(at === undefined ? now : undefined);
  const asked = asks.ask && {
    ask: asks.ask,
    folded: asks.folded,
    onAnswer: (inputId: string, value: Json) => conversation.answer(inputId, value),
  };
  if (state.error !== undefined) {
    return <Broken error={state.error} />;
  }
  return (
    <SettingContext.Provider value={setting}>
      <ViewContext.Provider value={shown}>
        <div class="conversation" data-panel={panel} data-past={at !== undefined || undefined}>
          <div class="column">
            {shown === undefined ? (
              <Loading connection={state.connection} />
            ) : (
              <>
                <Header
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
                  linkedAt={linked?.seq}
                  said={said}
                />
              </>
            )}
            {/* It is there from the beginning, so that whoever types can go on typing. */}
            <div class="bottom">
              {state.refused !== undefined && (
                <p class="problem toast" role="alert">
                  <span>{state.refused}</span>
                  <button class="button small" onClick={() => conversation.dismiss()}>
                    Dismiss
                  </button>
                </p>
              )}
              {(nowhere || route.lost) && shown !== undefined && (
                <Nowhere last={state.shown?.seq ?? 0} />
              )}
              <Outbox
                outgoing={state.outgoing}
                onEdit={(text) => setUnsent({ text, n: unsent.n + 1 })}
              />
              {busy && <Queue queue={queue} ask={asks.ask} />}
              {shown !== undefined &&
                (at === undefined ? (
                  <Dock asks={asks} />
                ) : (
                  <PastBar at={at} head={state.shown?.seq ?? at} beyond={beyond} error={error} />
                ))}
              <Composer
                contextId={contextId}
                agentId={askedIn(now)}
                busy={busy}
                unsent={unsent}
                onSend={(message) => {
                  void conversation.send(message);
                  follow();
                  return true;
                }}
                onStop={stop}
                loading={state.shown === undefined}
                asked={asked}
                open={open}
              />
            </div>
          </div>
          {panel !== undefined && shown !== undefined && (
            <SidePanel id={panel} byHand={byHand} asked={pressed} onClose={() => show(undefined)} />
          )}
        </div>
      </ViewContext.Provider>
    </SettingContext.Provider>
  );
}

function Loading({ connection }: { connection: ConnectionState | undefined }) {
  return (
    <p class="quiet notice" role="status">
      {connection?.status === "waiting"
        ? `It cannot be loaded yet: ${connection.reason}. It is tried again by itself.`
        : "Loading…"}
    </p>
  );
}

function Broken({ error }: { error: Error }) {
  const code = error instanceof ParleyError ? error.code : "";
  const deleted = code === "gone" || (error instanceof StreamGap && error.reason === "deleted");
  const words = deleted
    ? "This conversation was deleted."
    : code === "not-found"
      ? "There is no such conversation, or it is somebody else’s."
      : `This conversation cannot be shown: ${error.message}`;
  return (
    <div class="notice" role="alert">
      <p>{words}</p>
      <p>
        <a class="button" href={formatRoute({})}>
          Begin another
        </a>{" "}
        {!deleted && (
          <button class="button quiet" onClick={() => location.reload()}>
            Try again
          </button>
        )}
      </p>
    </div>
  );
}
