package dev.parley.protocol;

import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/// The kinds of event, with their names on the wire and their numbers in the store.
///
/// A number is never changed or reused, because stored logs contain it.
public enum Kind implements WireName {
  TASK_CREATED(1, "task-created", TaskEvent.TaskCreated.class),
  TASK_STATUS(2, "task-status", TaskEvent.TaskStatus.class),
  TASK_COMPLETE(3, "task-complete", TaskEvent.TaskComplete.class),
  CONTENT_DELTA(4, "content-delta", ContentEvent.ContentDelta.class),
  CONTENT_COMPLETE(5, "content-complete", ContentEvent.ContentComplete.class),
  TOOL_START(6, "tool-start", ToolEvent.ToolStart.class),
  TOOL_PROGRESS(7, "tool-progress", ToolEvent.ToolProgress.class),
  TOOL_COMPLETE(8, "tool-complete", ToolEvent.ToolComplete.class),
  INPUT_REQUIRED(9, "input-required", InputEvent.InputRequired.class),
  INPUT_RECEIVED(10, "input-received", InputEvent.InputReceived.class),
  INPUT_LAPSED(11, "input-lapsed", InputEvent.InputLapsed.class),
  AUTH_REQUIRED(12, "auth-required", AuthEvent.AuthRequired.class),
  AUTH_COMPLETED(13, "auth-completed", AuthEvent.AuthCompleted.class),
  AUTH_LAPSED(14, "auth-lapsed", AuthEvent.AuthLapsed.class),
  FILE_WRITE(15, "file-write", ArtifactEvent.FileWrite.class),
  DATA_WRITE(16, "data-write", ArtifactEvent.DataWrite.class),
  DATASET_WRITE(17, "dataset-write", ArtifactEvent.DatasetWrite.class),
  SUBTASK_CREATED(18, "subtask-created", SubtaskEvent.SubtaskCreated.class),
  SUBTASK_COMPLETE(19, "subtask-complete", SubtaskEvent.SubtaskComplete.class),
  THOUGHT_STREAM(20, "thought-stream", ThoughtEvent.ThoughtStream.class),
  INTERNAL_THOUGHT_PROCESS(
      21, "internal:thought-process", ThoughtEvent.InternalThoughtProcess.class),
  INTERNAL_LLM_CALL(22, "internal:llm-call", ThoughtEvent.InternalLlmCall.class),
  INTERNAL_CHECKPOINT(23, "internal:checkpoint", ThoughtEvent.InternalCheckpoint.class),
  CONTEXT_CREATED(24, "context-created", ContextEvent.ContextCreated.class),
  CONTEXT_UPDATED(25, "context-updated", ContextEvent.ContextUpdated.class),
  CONTEXT_REWOUND(26, "context-rewound", ContextEvent.ContextRewound.class),
  CONTEXT_FORKED(27, "context-forked", ContextEvent.ContextForked.class),
  STATE_UPDATED(28, "state-updated", ContextEvent.StateUpdated.class),
  MESSAGE(29, "message", MessageEvent.Message.class),
  MESSAGE_UPDATED(30, "message-updated", MessageEvent.MessageUpdated.class),
  MESSAGE_DELETED(31, "message-deleted", MessageEvent.MessageDeleted.class),
  TASK_STORED(32, "task-stored", TaskEvent.TaskStored.class),
  TASK_DELETED(33, "task-deleted", TaskEvent.TaskDeleted.class),
  CANCEL_REQUESTED(34, "cancel-requested", TaskEvent.CancelRequested.class),
  USAGE(35, "usage", ReportEvent.Usage.class),
  ERROR(36, "error", ReportEvent.ErrorReported.class),
  INTERNAL_RAW(37, "internal:raw", ReportEvent.InternalRaw.class);

  private static final String INTERNAL = "internal:";

  private static final Map<String, Kind> BY_WIRE =
      Arrays.stream(values()).collect(Collectors.toMap(Kind::wire, Function.identity()));

  private static final Kind[] BY_CODE = byCode();

  private final int code;
  private final String wire;
  private final Class<? extends Event> type;
  private final boolean internal;

  Kind(int code, String wire, Class<? extends Event> type) {
    this.code = code;
    this.wire = wire;
    this.type = type;
    this.internal = wire.startsWith(INTERNAL);
  }

  /// The kind of `event`.
  public static Kind of(Event event) {
    return switch (event) {
      case TaskEvent.TaskCreated _ -> TASK_CREATED;
      case TaskEvent.TaskStatus _ -> TASK_STATUS;
      case TaskEvent.TaskComplete _ -> TASK_COMPLETE;
      case ContentEvent.ContentDelta _ -> CONTENT_DELTA;
      case ContentEvent.ContentComplete _ -> CONTENT_COMPLETE;
      case ToolEvent.ToolStart _ -> TOOL_START;
      case ToolEvent.ToolProgress _ -> TOOL_PROGRESS;
      case ToolEvent.ToolComplete _ -> TOOL_COMPLETE;
      case InputEvent.InputRequired _ -> INPUT_REQUIRED;
      case InputEvent.InputReceived _ -> INPUT_RECEIVED;
      case InputEvent.InputLapsed _ -> INPUT_LAPSED;
      case AuthEvent.AuthRequired _ -> AUTH_REQUIRED;
      case AuthEvent.AuthCompleted _ -> AUTH_COMPLETED;
      case AuthEvent.AuthLapsed _ -> AUTH_LAPSED;
      case ArtifactEvent.FileWrite _ -> FILE_WRITE;
      case ArtifactEvent.DataWrite _ -> DATA_WRITE;
      case ArtifactEvent.DatasetWrite _ -> DATASET_WRITE;
      case SubtaskEvent.SubtaskCreated _ -> SUBTASK_CREATED;
      case SubtaskEvent.SubtaskComplete _ -> SUBTASK_COMPLETE;
      case ThoughtEvent.ThoughtStream _ -> THOUGHT_STREAM;
      case ThoughtEvent.InternalThoughtProcess _ -> INTERNAL_THOUGHT_PROCESS;
      case ThoughtEvent.InternalLlmCall _ -> INTERNAL_LLM_CALL;
      case ThoughtEvent.InternalCheckpoint _ -> INTERNAL_CHECKPOINT;
      case ContextEvent.ContextCreated _ -> CONTEXT_CREATED;
      case ContextEvent.ContextUpdated _ -> CONTEXT_UPDATED;
      case ContextEvent.ContextRewound _ -> CONTEXT_REWOUND;
      case ContextEvent.ContextForked _ -> CONTEXT_FORKED;
      case ContextEvent.StateUpdated _ -> STATE_UPDATED;
      case MessageEvent.Message _ -> MESSAGE;
      case MessageEvent.MessageUpdated _ -> MESSAGE_UPDATED;
      case MessageEvent.MessageDeleted _ -> MESSAGE_DELETED;
      case TaskEvent.TaskStored _ -> TASK_STORED;
      case TaskEvent.TaskDeleted _ -> TASK_DELETED;
      case TaskEvent.CancelRequested _ -> CANCEL_REQUESTED;
      case ReportEvent.Usage _ -> USAGE;
      case ReportEvent.ErrorReported _ -> ERROR;
      case ReportEvent.InternalRaw _ -> INTERNAL_RAW;
    };
  }

  /// The kind with this wire name, if there is one.
  public static Optional<Kind> find(String wire) {
    return Optional.ofNullable(BY_WIRE.get(wire));
  }

  /// The kind with this number in the store.
  public static Kind ofCode(int code) {
    var kind = code > 0 && code < BY_CODE.length ? BY_CODE[code] : null;
    if (kind == null) {
      throw new IllegalArgumentException("no kind has the code " + code);
    }
    return kind;
  }

  /// The number of this kind in the store.
  public int code() {
    return code;
  }

  @Override
  public String wire() {
    return wire;
  }

  /// The name in a stream's `event:` field.
  public String sseName() {
    return internal ? wire.substring(INTERNAL.length()) : wire;
  }

  /// The record type of this kind.
  public Class<? extends Event> type() {
    return type;
  }

  /// True if every event of this kind is internal.
  public boolean internal() {
    return internal;
  }

  private static Kind[] byCode() {
    var max = Arrays.stream(values()).mapToInt(Kind::code).max().orElseThrow();
    var kinds = new Kind[max + 1];
    for (var kind : values()) {
      kinds[kind.code] = kind;
    }
    return kinds;
  }
}
