package dev.parley.protocol;

import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Text that an agent streams.
public sealed interface ContentEvent extends Event {

  /// A piece of text. `index` counts from 0 within its block.
  record ContentDelta(String delta, int index, @Nullable BlockId blockId) implements ContentEvent {
    public ContentDelta {
      if (delta.isEmpty()) {
        throw new IllegalArgumentException("a delta needs text");
      }
      if (index < 0) {
        throw new IllegalArgumentException("an index must not be negative: " + index);
      }
    }
  }

  /// A block of text is complete. `content` is the joined text of all its deltas.
  record ContentComplete(
      String content,
      @Nullable BlockId blockId,
      @Nullable FinishReason finishReason,
      @Nullable Boolean partial,
      @Nullable BlockId replaces,
      @Nullable List<ToolCall> toolCalls)
      implements ContentEvent {
    public ContentComplete {
      toolCalls = toolCalls == null ? null : List.copyOf(toolCalls);
    }
  }

  /// A tool call that a model requested.
  record ToolCall(ToolCallId id, String name, ObjectNode arguments) {}

  /// Why a block of text ended.
  enum FinishReason implements WireName {
    STOP,
    LENGTH,
    TOOL_CALLS,
    CONTENT_FILTER,
    INTERRUPTED,
    CANCELED,
    REFUSAL;

    @Override
    public String wire() {
      return name().toLowerCase(Locale.ROOT);
    }
  }
}
