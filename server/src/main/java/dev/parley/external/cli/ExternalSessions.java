package dev.parley.external.cli;

import dev.parley.agent.ConversationMemory;
import dev.parley.agent.TokenEstimate;
import dev.parley.log.EventLog;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent.MessageDeleted;
import dev.parley.protocol.MessageEvent.MessageUpdated;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.MessageView;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.ThoughtEvent.InternalCheckpoint;
import dev.parley.task.TaskRun;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Finds what a program or a remote agent needs to know when a task starts: a session to resume, or
/// the conversation as text.
///
/// Only the current conversation may be known. A session with turns that a rewind removed, or that
/// is shared with another context, is copied up to the last valid turn, or not resumed.
public final class ExternalSessions {

  /// Key in the state of a checkpoint: the session of the task.
  public static final String STATE = "cli";

  /// Key beside it: the session that the program is about to resume, unless it resumes a copy.
  static final String RESUMES = "resumes";

  private static final int TURNS_MAX = 20;
  private static final int PAGE = 1_000;
  private static final int ENTRIES_MAX = 200_000;

  /// What the owner of the sessions supports: to resume one, to resume a copy that is cut at a
  /// place, and to let several tasks resume one at the same time.
  public record SessionSupport(boolean resumes, boolean forks, boolean shares) {}

  private record AgentTurn(TaskId task, long seq) {}

  private record SessionCheckpoint(Entry entry, JsonNode state) {}

  private final EventLog log;
  private final ConversationMemory conversationMemory;

  public ExternalSessions(EventLog log, ConversationMemory conversationMemory) {
    this.log = log;
    this.conversationMemory = conversationMemory;
  }

  /// The request that starts the program when a task starts.
  public ProgramRequest firstRequest(
      TaskRun taskRun, SessionSupport sessionSupport, String program) {
    var prompt = ConversationMemory.promptText(taskRun);
    if (!hasHistory(taskRun)) {
      return new ProgramRequest(prompt, null);
    }
    var earlier = conversationMemory.earlierMessages(taskRun);
    if (sessionSupport.resumes()) {
      var resumed = resumed(taskRun, sessionSupport, program, earlier, prompt);
      if (resumed.isPresent()) {
        return resumed.get();
      }
    }
    return freshRequest(earlier, prompt);
  }

  /// The same request without a session.
  public ProgramRequest freshRequest(TaskRun taskRun) {
    return hasHistory(taskRun)
        ? freshRequest(
            conversationMemory.earlierMessages(taskRun), ConversationMemory.promptText(taskRun))
        : new ProgramRequest(ConversationMemory.promptText(taskRun), null);
  }

  /// True if the task sees the conversation of its context, and later tasks may see its work.
  public static boolean hasHistory(TaskRun taskRun) {
    return taskRun.origin().parentTaskId() == null || taskRun.created().facts().history();
  }

  private ProgramRequest freshRequest(List<MessageView> earlier, String prompt) {
    return new ProgramRequest(withMessages("The conversation so far:", earlier, prompt), null);
  }

  /// The latest messages that there is room for, and the prompt.
  private String withMessages(String title, List<MessageView> messages, String prompt) {
    var lines = new ArrayList<String>();
    var room = conversationMemory.limits().historyTokens() - TokenEstimate.of(prompt);
    for (var message : messages.reversed()) {
      room -= TokenEstimate.of(message.content());
      if (room < 0) {
        break;
      }
      if (!message.content().isBlank()) {
        lines.add(speaker(message) + ": " + message.content());
      }
    }
    if (lines.isEmpty()) {
      return prompt;
    }
    return title
        + "\n\n"
        + String.join("\n\n", lines.reversed())
        + "\n\n(End of what was said before.)\n\n"
        + prompt;
  }

  private static String speaker(MessageView message) {
    if (message.role() == Role.USER) {
      return "User";
    }
    return message.agentId() == null ? "Assistant" : "Assistant (" + message.agentId() + ")";
  }

  private Optional<ProgramRequest> resumed(
      TaskRun taskRun,
      SessionSupport sessionSupport,
      String program,
      List<MessageView> earlier,
      String prompt) {
    if (earlier.stream().anyMatch(message -> message.editedAt() != null)) {
      return Optional.empty();
    }
    var turns = turns(earlier);
    for (var i = turns.size() - 1; i >= Math.max(0, turns.size() - TURNS_MAX); i--) {
      var agentTurn = turns.get(i);
      var place = lastCheckpoint(taskRun, agentTurn, program);
      if (place.isPresent()) {
        var since =
            earlier.stream()
                .filter(message -> !agentTurn.task().equals(ConversationMemory.task(message)))
                .filter(message -> message.seq() > agentTurn.seq())
                .toList();
        return resume(taskRun, sessionSupport, agentTurn, place.get())
            .map(
                resumedSession ->
                    new ProgramRequest(
                        withMessages("Said meanwhile, by or to others:", since, prompt),
                        resumedSession));
      }
    }
    return Optional.empty();
  }

  private static List<AgentTurn> turns(List<MessageView> messages) {
    var turns = new ArrayList<AgentTurn>();
    for (var message : messages) {
      var task = ConversationMemory.task(message);
      if (task != null && turns.stream().noneMatch(agentTurn -> agentTurn.task().equals(task))) {
        turns.add(new AgentTurn(task, message.seq()));
      }
    }
    return turns;
  }

  /// The last checkpoint of a session of the agent in this turn.
  private Optional<SessionCheckpoint> lastCheckpoint(
      TaskRun taskRun, AgentTurn agentTurn, String program) {
    var last = new SessionCheckpoint[1];
    read(
        taskRun,
        Position.of(agentTurn.seq()),
        entry -> {
          var state = state(entry);
          if (state != null
              && entry.origin() != null
              && entry.origin().rootTaskId().equals(agentTurn.task())
              && entry.origin().agentId().equals(taskRun.origin().agentId())
              && state.path("program").asString("").equals(program)
              && state.path("lasting").asBoolean(false)) {
            last[0] = new SessionCheckpoint(entry, state);
          }
          return !(agentTurn.task().equals(entry.taskId()) && ends(entry));
        });
    return Optional.ofNullable(last[0]);
  }

  private static boolean ends(Entry entry) {
    return switch (entry.event()) {
      case TaskStatus status -> status.status().terminal();
      default -> false; // Nothing else ends a task.
    };
  }

  /// How to resume from there; empty if the session contains removed turns and cannot be cut.
  private Optional<ProgramRequest.ResumedSession> resume(
      TaskRun taskRun,
      SessionSupport sessionSupport,
      AgentTurn agentTurn,
      SessionCheckpoint sessionCheckpoint) {
    var session = sessionCheckpoint.state().path("session").asString("");
    var mark = sessionCheckpoint.state().path("mark").asString("");
    var clean =
        new boolean[] {
          sessionCheckpoint.state().path("context").asString("").equals(taskRun.context().value())
        };
    var changed = new boolean[1];
    read(
        taskRun,
        // A change during a turn precedes its last checkpoint. The message that started the turn
        // may be deleted by now; then the first message of the turn is a later one.
        Position.of(conversationMemory.turnStart(taskRun, agentTurn.task(), agentTurn.seq())),
        entry -> {
          if (entry.position().seq() > sessionCheckpoint.entry().position().seq()
              && usesSession(entry, session)) {
            clean[0] = false;
          }
          changed[0] |=
              entry.event() instanceof MessageUpdated || entry.event() instanceof MessageDeleted;
          return true;
        });
    if (changed[0]) {
      return Optional.empty();
    }
    var totals = sessionCheckpoint.state().get("totals");
    if (clean[0] && (taskRun.origin().parentTaskId() == null || sessionSupport.shares())) {
      return Optional.of(new ProgramRequest.ResumedSession(session, null, false, totals));
    }
    return sessionSupport.forks() && !mark.isEmpty()
        ? Optional.of(new ProgramRequest.ResumedSession(session, mark, true, totals))
        : Optional.empty();
  }

  /// True if the entry is a checkpoint of a program that uses the session or is about to resume it.
  private static boolean usesSession(Entry entry, String session) {
    if (!(entry.event() instanceof InternalCheckpoint checkpoint) || checkpoint.state() == null) {
      return false;
    }
    var state = checkpoint.state().path(STATE);
    return state.path("session").asString("").equals(session)
        || state.path(RESUMES).asString("").equals(session);
  }

  private interface EntryVisitor {
    boolean more(Entry entry);
  }

  private void read(TaskRun taskRun, Position after, EntryVisitor entryVisitor) {
    var position = after;
    for (var read = 0; read < ENTRIES_MAX; ) {
      var page = log.read(taskRun.context(), position, PAGE);
      if (page.isEmpty()) {
        return;
      }
      for (var entry : page) {
        if (!entryVisitor.more(entry)) {
          return;
        }
      }
      read += page.size();
      position = page.getLast().position();
    }
  }

  /// The checkpoint state by which later tasks of the agent find the session; `lasting` if they may
  /// resume it.
  public static ObjectNode sessionState(
      TaskRun taskRun, String program, String session, boolean lasting) {
    return Json.object()
        .put("program", program)
        .put("session", session)
        .put("context", taskRun.context().value())
        .put("lasting", lasting);
  }

  /// The checkpoint state that is written before the session is resumed.
  public static ObjectNode resumingState(String session) {
    return Json.object().put(RESUMES, session);
  }

  /// The session state in a checkpoint, if there is one.
  static @Nullable JsonNode state(Entry entry) {
    if (!(entry.event() instanceof InternalCheckpoint checkpoint) || checkpoint.state() == null) {
      return null;
    }
    var state = checkpoint.state().path(STATE);
    return state.has("session") ? state : null;
  }
}
