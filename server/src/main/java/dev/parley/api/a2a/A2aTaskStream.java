package dev.parley.api.a2a;

import dev.parley.a2a.A2aEncoder;
import dev.parley.a2a.A2aResponseItem;
import dev.parley.a2a.A2aResponseItem.A2aStatusUpdate;
import dev.parley.api.a2a.A2aTaskFold.A2aStreamItem;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Json;
import dev.parley.protocol.Position;
import dev.parley.stream.FrameCursor;
import dev.parley.stream.ProjectedStream;
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
final class A2aTaskStream implements ProjectedStream.EntryEncoder {

  /// A comment without an empty line: some clients would take the empty line for an event without
  /// data.
  private static final byte[] HEARTBEAT = ": heartbeat\n".getBytes(StandardCharsets.US_ASCII);

  /// Writes frames: encodes an item in a version and wraps it in the binding's envelope.
  record A2aFrameWriter(A2aEncoder encoder, UnaryOperator<ObjectNode> envelope) {

    byte[] frame(FrameCursor id, A2aResponseItem item) {
      return frame(id, envelope.apply(encoder.item(item)));
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

  private final A2aTaskFold fold;
  private final A2aFrameWriter frameWriter;
  private final List<A2aStreamItem> initialItems;
  private final @Nullable FrameCursor after;
  private final Position asOf;
  private boolean ended;

  /// @param initialItems the items that the stream begins with
  /// @param after the last frame that the client received; frames up to it are not sent again
  A2aTaskStream(
      A2aTaskFold fold,
      A2aFrameWriter writer,
      List<A2aStreamItem> initialItems,
      @Nullable FrameCursor after) {
    this(fold, writer, initialItems, after, Position.START);
  }

  /// A stream that resumes.
  ///
  /// @param asOf a question that was asked before this position does not end the stream
  A2aTaskStream(
      A2aTaskFold fold,
      A2aFrameWriter writer,
      List<A2aStreamItem> first,
      @Nullable FrameCursor after,
      Position asOf) {
    this.fold = fold;
    this.frameWriter = writer;
    this.initialItems = List.copyOf(first);
    this.after = after;
    this.asOf = asOf;
  }

  @Override
  public byte[] open() {
    var frames = new ByteArrayOutputStream();
    initialItems.forEach(item -> frames.writeBytes(frameWriter.frame(item.id(), item.item())));
    ended = fold.state().terminal();
    discardHistory();
    return frames.toByteArray();
  }

  @Override
  public byte[] frames(Entry entry) {
    var told =
        fold.apply(entry).stream().filter(one -> after == null || one.id().after(after)).toList();
    discardHistory();
    ended = fold.state().terminal() || (endsWithQuestion(told) && !asOf.after(entry.position()));
    var frames = new ByteArrayOutputStream();
    for (var i = 0; i < told.size(); i++) {
      var last = ended && i == told.size() - 1;
      frames.writeBytes(frameWriter.frame(told.get(i).id(), item(told.get(i).item(), last)));
    }
    return frames.toByteArray();
  }

  private static boolean endsWithQuestion(List<A2aStreamItem> told) {
    return !told.isEmpty()
        && told.getLast().item() instanceof A2aStatusUpdate update
        && update.status().state().interrupted();
  }

  /// 0.3 marks only the last status of a stream as final.
  private static A2aResponseItem item(A2aResponseItem item, boolean last) {
    return item instanceof A2aStatusUpdate update
        ? new A2aStatusUpdate(
            update.taskId(), update.contextId(), update.status(), last, update.metadata())
        : item;
  }

  private void discardHistory() {
    if (fold.taskCreated()) {
      fold.discardHistory();
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
}
