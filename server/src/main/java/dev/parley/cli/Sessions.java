package dev.parley.cli;

import dev.parley.agent.Memory;
import dev.parley.agent.TokenCount;
import dev.parley.log.EventLog;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent.MessageDeleted;
import dev.parley.protocol.MessageEvent.MessageUpdated;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.ThoughtEvent.InternalCheckpoint;
import dev.parley.task.Run;
import dev.parley.view.MessageView;
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
public final class Sessions {

  /// Key in the state of a checkpoint: the session of the task.
  public static final String STATE = "cli";

  private static final int TURNS_MAX = 20;
  private static final int PAGE = 1_000;
  private static final int LOOK_MAX = 200_000;

  /// What the owner of the sessions supports: to resume one, to resume a copy that is cut at a
  /// place, and to let several tasks resume one at the same time.
  public record Skills(boolean resumes, boolean goesBack, boolean shares) {}

  private record Turn(TaskId task, long seq) {}

  private record Place(Entry entry, JsonNode state) {}

  private final EventLog log;
  private final Memory memory;

  public Sessions(EventLog log, Memory memory) {
    this.log = log;
    this.memory = memory;
  }

  /// The request that starts the program when a task starts.
  public Errand first(Run run, Skills skills, String program) {
    var prompt = Memory.given(run);
    if (!remembers(run)) {
      return new Errand(prompt, null);
    }
    var earlier = memory.earlier(run);
    if (skills.resumes()) {
      var resumed = resumed(run, skills, program, earlier, prompt);
      if (resumed.isPresent()) {
        return resumed.get();
      }
    }
    return fresh(earlier, prompt);
  }

  /// The same request without a session.
  public Errand fresh(Run run) {
    return remembers(run)
        ? fresh(memory.earlier(run), Memory.given(run))
        : new Errand(Memory.given(run), null);
  }

  /// True if the task sees the conversation of its context, and later tasks may see its work.
  public static boolean remembers(Run run) {
    var metadata = run.created().metadata();
    return run.origin().parentTaskId() == null
        || (metadata != null && metadata.path(Memory.HISTORY).asBoolean(false));
  }

  private Errand fresh(List<MessageView> earlier, String prompt) {
    return new Errand(told("The conversation so far:", earlier, prompt), null);
  }

  /// The latest messages that there is room for, and the prompt.
  private String told(String title, List<MessageView> messages, String prompt) {
    var lines = new ArrayList<String>();
    var room = memory.limits().historyTokens() - TokenCount.of(prompt);
    for (var message : messages.reversed()) {
      room -= TokenCount.of(message.content());
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

  private Optional<Errand> resumed(
      Run run, Skills skills, String program, List<MessageView> earlier, String prompt) {
    if (earlier.stream().anyMatch(message -> message.editedAt() != null)) {
      return Optional.empty();
    }
    var turns = turns(earlier);
    for (var i = turns.size() - 1; i >= Math.max(0, turns.size() - TURNS_MAX); i--) {
      var turn = turns.get(i);
      var place = place(run, turn, program);
      if (place.isPresent()) {
        var since =
            earlier.stream()
                .filter(message -> !turn.task().equals(Memory.task(message)))
                .filter(message -> message.seq() > turn.seq())
                .toList();
        return resume(run, skills, turn, place.get())
            .map(
                resume ->
                    new Errand(told("Said meanwhile, by or to others:", since, prompt), resume));
      }
    }
    return Optional.empty();
  }

  private static List<Turn> turns(List<MessageView> messages) {
    var turns = new ArrayList<Turn>();
    for (var message : messages) {
      var task = Memory.task(message);
      if (task != null && turns.stream().noneMatch(turn -> turn.task().equals(task))) {
        turns.add(new Turn(task, message.seq()));
      }
    }
    return turns;
  }

  /// The last checkpoint of a session of the agent in this turn.
  private Optional<Place> place(Run run, Turn turn, String program) {
    var last = new Place[1];
    read(
        run,
        Position.of(turn.seq()),
        entry -> {
          var state = state(entry);
          if (state != null
              && entry.origin() != null
              && entry.origin().rootTaskId().equals(turn.task())
              && entry.origin().agentId().equals(run.origin().agentId())
              && state.path("program").asString("").equals(program)
              && state.path("lasting").asBoolean(false)) {
            last[0] = new Place(entry, state);
          }
          return !(turn.task().equals(entry.taskId()) && ends(entry));
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
  private Optional<Errand.Resume> resume(Run run, Skills skills, Turn turn, Place place) {
    var session = place.state().path("session").asString("");
    var mark = place.state().path("mark").asString("");
    var clean =
        new boolean[] {place.state().path("context").asString("").equals(run.context().value())};
    var changed = new boolean[1];
    read(
        run,
        // A change during a turn precedes its last checkpoint. The message that started the turn
        // may be deleted by now; then the first message of the turn is a later one.
        Position.of(memory.beginning(run, turn.task(), turn.seq())),
        entry -> {
          if (entry.position().seq() > place.entry().position().seq() && touches(entry, session)) {
            clean[0] = false;
          }
          changed[0] |=
              entry.event() instanceof MessageUpdated || entry.event() instanceof MessageDeleted;
          return true;
        });
    if (changed[0]) {
      return Optional.empty();
    }
    var totals = place.state().get("totals");
    if (clean[0] && (run.origin().parentTaskId() == null || skills.shares())) {
      return Optional.of(new Errand.Resume(session, null, false, totals));
    }
    return skills.goesBack() && !mark.isEmpty()
        ? Optional.of(new Errand.Resume(session, mark, true, totals))
        : Optional.empty();
  }

  /// True if the entry is a checkpoint of a program that uses the session or is about to resume it.
  private static boolean touches(Entry entry, String session) {
    if (!(entry.event() instanceof InternalCheckpoint checkpoint) || checkpoint.state() == null) {
      return false;
    }
    var state = checkpoint.state().path(STATE);
    return state.path("session").asString("").equals(session)
        || state.path(CliStory.RESUMES).asString("").equals(session);
  }

  private interface Reader {
    boolean more(Entry entry);
  }

  private void read(Run run, Position after, Reader reader) {
    var position = after;
    for (var read = 0; read < LOOK_MAX; ) {
      var page = log.read(run.context(), position, PAGE);
      if (page.isEmpty()) {
        return;
      }
      for (var entry : page) {
        if (!reader.more(entry)) {
          return;
        }
      }
      read += page.size();
      position = page.getLast().position();
    }
  }

  /// The checkpoint state by which later tasks of the agent find the session; `lasting` if they may
  /// resume it.
  public static ObjectNode note(Run run, String program, String session, boolean lasting) {
    return Json.object()
        .put("program", program)
        .put("session", session)
        .put("context", run.context().value())
        .put("lasting", lasting);
  }

  /// The checkpoint state that is written before the session is resumed.
  public static ObjectNode resuming(String session) {
    return Json.object().put(CliStory.RESUMES, session);
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
