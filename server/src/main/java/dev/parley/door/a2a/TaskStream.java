package dev.parley.door.a2a;

import dev.parley.a2a.WireForm;
import dev.parley.a2a.WireItem;
import dev.parley.a2a.WireStatusUpdate;
import dev.parley.door.EntryTail;
import dev.parley.door.FrameCursor;
import dev.parley.door.a2a.TaskFold.Told;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Json;
import dev.parley.protocol.Position;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// The stream of a task: initial items, then the items of its fold until the task ends or asks a
/// question.
///
/// Every frame has an `id:`, so that the client can resume after it. For one thread.
final class TaskStream implements EntryTail.Script {

  /// A comment without an empty line: some clients would take the empty line for an event without
  /// data.
  private static final byte[] HEARTBEAT = ": heartbeat\n".getBytes(StandardCharsets.US_ASCII);

  /// Writes frames: encodes an item in a version and wraps it in the binding's envelope.
  record Writing(WireForm form, UnaryOperator<ObjectNode> around) {

    byte[] frame(FrameCursor id, WireItem item) {
      return frame(id, around.apply(form.item(item)));
    }

    static byte[] frame(@Nullable FrameCursor id, ObjectNode json) {
      var bytes = new ByteArrayOutputStream();
      var head = (id == null ? "" : "id: " + id + "\n") + "data: ";
      bytes.writeBytes(head.getBytes(StandardCharsets.US_ASCII));
      bytes.writeBytes(Json.bytes(json));
      bytes.writeBytes("\n\n".getBytes(StandardCharsets.US_ASCII));
      return bytes.toByteArray();
    }
  }

  private final TaskFold fold;
  private final Writing writing;
  private final List<Told> first;
  private final @Nullable FrameCursor after;
  private final Position asOf;
  private boolean ended;

  /// @param first the items that the stream begins with
  /// @param after the last frame that the client received; frames up to it are not sent again
  TaskStream(TaskFold fold, Writing writing, List<Told> first, @Nullable FrameCursor after) {
    this(fold, writing, first, after, Position.START);
  }

  /// A stream that resumes.
  ///
  /// @param asOf a question that was asked before this position does not end the stream
  TaskStream(
      TaskFold fold,
      Writing writing,
      List<Told> first,
      @Nullable FrameCursor after,
      Position asOf) {
    this.fold = fold;
    this.writing = writing;
    this.first = List.copyOf(first);
    this.after = after;
    this.asOf = asOf;
  }

  @Override
  public byte[] open() {
    var frames = new ByteArrayOutputStream();
    first.forEach(told -> frames.writeBytes(writing.frame(told.id(), told.item())));
    ended = fold.state().terminal();
    forget();
    return frames.toByteArray();
  }

  @Override
  public byte[] frames(Entry entry) {
    var told =
        fold.take(entry).stream().filter(one -> after == null || one.id().after(after)).toList();
    forget();
    ended = fold.state().terminal() || (asks(told) && !asOf.after(entry.position()));
    var frames = new ByteArrayOutputStream();
    for (var i = 0; i < told.size(); i++) {
      var last = ended && i == told.size() - 1;
      frames.writeBytes(writing.frame(told.get(i).id(), item(told.get(i).item(), last)));
    }
    return frames.toByteArray();
  }

  private static boolean asks(List<Told> told) {
    return !told.isEmpty()
        && told.getLast().item() instanceof WireStatusUpdate update
        && update.status().state().interrupted();
  }

  /// 0.3 marks only the last status of a stream as final.
  private static WireItem item(WireItem item, boolean last) {
    return item instanceof WireStatusUpdate update
        ? new WireStatusUpdate(
            update.taskId(), update.contextId(), update.status(), last, update.metadata())
        : item;
  }

  private void forget() {
    if (fold.begun()) {
      fold.forget();
    }
  }

  @Override
  public boolean ended(boolean all) {
    return ended;
  }

  @Override
  public byte[] heartbeat() {
    return HEARTBEAT.clone();
  }

  @Override
  public byte[] gone() {
    return new byte[0];
  }
}
