package dev.parley.app;

import dev.parley.app.Terminal.TextStyle;
import dev.parley.protocol.ArtifactEvent;
import dev.parley.protocol.AuthEvent;
import dev.parley.protocol.ContentEvent;
import dev.parley.protocol.ContextEvent;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Event;
import dev.parley.protocol.InputEvent;
import dev.parley.protocol.MessageEvent;
import dev.parley.protocol.ReportEvent;
import dev.parley.protocol.SubtaskEvent;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.ThoughtEvent;
import dev.parley.protocol.ToolEvent;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// Formats an event as one line of text.
final class EventText {

  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("HH:mm:ss.SSS", Locale.ROOT);
  private static final int TEXT_MAX = 100;
  private static final int ID_SHOWN = 8;

  private final TextStyle textStyle;
  private final ZoneId zone;

  EventText(TextStyle textStyle, ZoneId zone) {
    this.textStyle = textStyle;
    this.zone = zone;
  }

  String of(Entry entry) {
    var task = entry.taskId();
    return "%6s  %s  %-8s  %-16s  %s"
        .formatted(
            entry.position(),
            textStyle.dim(TIME.format(entry.timestamp().atZone(zone))),
            task == null ? "" : shortId(task.value()),
            entry.kind().wire(),
            detail(entry.event()))
        .stripTrailing();
  }

  /// The first characters of an id, enough to identify it in a list.
  static String shortId(String id) {
    return id.length() <= ID_SHOWN ? id : id.substring(0, ID_SHOWN);
  }

  private static String detail(Event event) {
    return switch (event) {
      case ContextEvent context -> context(context);
      case MessageEvent message -> message(message);
      case TaskEvent task -> task(task);
      case ContentEvent content -> content(content);
      case ToolEvent tool -> tool(tool);
      case ThoughtEvent thought -> thought(thought);
      case ArtifactEvent artifact -> artifact(artifact);
      case InputEvent input -> input(input);
      case AuthEvent auth -> auth(auth);
      case SubtaskEvent subtask -> subtask(subtask);
      case ReportEvent report -> report(report);
    };
  }

  private static String context(ContextEvent event) {
    return switch (event) {
      case ContextEvent.ContextCreated created -> quoted(created.title());
      case ContextEvent.ContextUpdated updated -> quoted(updated.title());
      case ContextEvent.ContextRewound rewound -> "to " + rewound.toSeq();
      case ContextEvent.ContextForked forked ->
          "from " + forked.sourceContextId() + " at " + forked.atSeq();
      case ContextEvent.StateUpdated updated -> json(updated.delta());
    };
  }

  private static String message(MessageEvent event) {
    return switch (event) {
      case MessageEvent.Message message -> message.role().wire() + " " + quoted(message.content());
      case MessageEvent.MessageUpdated updated -> quoted(updated.content());
      case MessageEvent.MessageDeleted deleted -> deleted.messageId().value();
    };
  }

  private static String task(TaskEvent event) {
    return switch (event) {
      case TaskEvent.TaskCreated created ->
          created.initiator().wire() + " " + quoted(created.prompt());
      case TaskEvent.TaskStatus status -> status.status().wire() + " " + quoted(status.message());
      case TaskEvent.TaskComplete complete -> quoted(complete.content());
      case TaskEvent.CancelRequested request -> plain(request.reason());
      case TaskEvent.TaskStored _ -> "";
      case TaskEvent.TaskDeleted deleted -> plain(deleted.reason());
    };
  }

  private static String content(ContentEvent event) {
    return switch (event) {
      case ContentEvent.ContentDelta delta -> quoted(delta.delta());
      case ContentEvent.ContentComplete complete ->
          (complete.finishReason() == null ? "" : complete.finishReason().wire() + " ")
              + quoted(complete.content());
    };
  }

  private static String tool(ToolEvent event) {
    return switch (event) {
      case ToolEvent.ToolStart start -> plain(start.toolName()) + " " + json(start.arguments());
      case ToolEvent.ToolProgress progress ->
          percent(progress.progress()) + " " + plain(progress.message());
      case ToolEvent.ToolComplete complete ->
          plain(complete.toolName())
              + (complete.success() ? " ok " : " failed ")
              + (complete.success() ? json(complete.result()) : quoted(complete.error()));
    };
  }

  private static String thought(ThoughtEvent event) {
    return switch (event) {
      case ThoughtEvent.ThoughtStream thought ->
          thought.thoughtType().wire() + " " + quoted(thought.content());
      case ThoughtEvent.InternalThoughtProcess process -> quoted(process.reasoning());
      case ThoughtEvent.InternalLlmCall call ->
          "%s, %d messages, %d tools"
              .formatted(plain(call.model()), call.messageCount(), call.toolCount());
      case ThoughtEvent.InternalCheckpoint checkpoint -> "turn " + checkpoint.iteration();
    };
  }

  private static String artifact(ArtifactEvent event) {
    return switch (event) {
      case ArtifactEvent.FileWrite file ->
          label(event, file.name())
              + " chunk %d%s".formatted(file.index(), file.complete() ? ", complete" : "");
      case ArtifactEvent.DataWrite data -> label(event, data.name());
      case ArtifactEvent.DatasetWrite dataset ->
          label(event, dataset.name())
              + " %d rows%s"
                  .formatted(dataset.rows().size(), dataset.complete() ? ", complete" : "");
    };
  }

  private static String input(InputEvent event) {
    return switch (event) {
      case InputEvent.InputRequired required ->
          required.inputType().wire() + " " + quoted(required.prompt());
      case InputEvent.InputReceived received -> "by " + received.providedBy().wire();
      case InputEvent.InputLapsed lapsed -> plain(lapsed.reason());
    };
  }

  private static String auth(AuthEvent event) {
    return switch (event) {
      case AuthEvent.AuthRequired required ->
          required.authType().wire() + " " + quoted(required.prompt());
      case AuthEvent.AuthCompleted completed -> "by " + plain(completed.userId());
      case AuthEvent.AuthLapsed lapsed -> plain(lapsed.reason());
    };
  }

  private static String subtask(SubtaskEvent event) {
    return switch (event) {
      case SubtaskEvent.SubtaskCreated created ->
          shortId(created.subtaskId().value())
              + (created.agentId() == null ? "" : " " + created.agentId())
              + " "
              + quoted(created.prompt());
      case SubtaskEvent.SubtaskComplete complete ->
          shortId(complete.subtaskId().value()) + " " + complete.status().wire();
    };
  }

  private static String report(ReportEvent event) {
    return switch (event) {
      case ReportEvent.Usage usage ->
          "%s, %d in, %d out"
              .formatted(plain(usage.model()), usage.allInputTokens(), usage.outputTokens());
      case ReportEvent.ErrorReported error -> error.code().wire() + " " + quoted(error.message());
      case ReportEvent.InternalRaw raw -> plain(raw.source()) + " " + quoted(raw.line());
    };
  }

  private static String label(ArtifactEvent event, @Nullable String name) {
    return name == null ? event.artifactId().value() : plain(name);
  }

  static String percent(double progress) {
    return Math.round(progress * 100) + "%";
  }

  private static String json(@Nullable JsonNode value) {
    return value == null ? "" : TextSanitizer.line(value.toString(), TEXT_MAX);
  }

  private static String plain(@Nullable String text) {
    return text == null ? "" : TextSanitizer.line(text, TEXT_MAX);
  }

  private static String quoted(@Nullable String text) {
    if (text == null) {
      return "";
    }
    // Blanks at the ends matter in a delta, so they are shown between quotes.
    var line = text.length() <= TEXT_MAX ? text : TextSanitizer.line(text, TEXT_MAX);
    return '"' + TextSanitizer.text(line.replace("\n", "\\n").replace("\t", "\\t")) + '"';
  }
}
