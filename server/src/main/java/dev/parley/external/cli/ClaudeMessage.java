package dev.parley.external.cli;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The blocks of one Claude message received so far. For one thread.
final class ClaudeMessage {

  /// A block that was streamed in pieces.
  static final class ClaudeBlock {
    final String type;
    final @Nullable String call;
    final @Nullable String tool;
    final StringBuilder text = new StringBuilder();

    ClaudeBlock(String type, @Nullable String call, @Nullable String tool) {
      this.type = type;
      this.call = call;
      this.tool = tool;
    }
  }

  /// Limits on the number of blocks kept per message, and on the characters kept per block.
  private static final int BLOCKS_MAX = 1_000;

  private static final int BLOCK_MAX = 8_000_000;

  final String id;
  final String model;
  private final Map<Integer, ClaudeBlock> blocks = new HashMap<>();
  private int completeBlocks;

  /// True if the model call of this message was reported.
  boolean modelCallReported;

  /// True while a block of text is open.
  boolean textOpen;

  ClaudeMessage(String id, String model) {
    this.id = id;
    this.model = model;
  }

  void begin(int index, ClaudeBlock claudeBlock) {
    if (blocks.size() < BLOCKS_MAX) {
      blocks.put(index, claudeBlock);
    }
  }

  @Nullable ClaudeBlock block(int index) {
    return blocks.get(index);
  }

  void add(int index, String type, String piece) {
    var claudeBlock = blocks.computeIfAbsent(index, _ -> new ClaudeBlock(type, null, null));
    if (claudeBlock.text.length() + piece.length() <= BLOCK_MAX) {
      claudeBlock.text.append(piece);
    }
  }

  /// The index of the first block of a line that has this many complete blocks. A line with several
  /// blocks contains the message from its beginning; a single block is the next one.
  int firstBlockIndex(int count) {
    var first = count > 1 ? 0 : completeBlocks;
    completeBlocks = Math.max(completeBlocks, first + count);
    return first;
  }

  /// The part of a complete text that was not streamed.
  String remainingText(int index, String text) {
    var streamed = blocks.get(index);
    if (streamed == null) {
      begin(index, new ClaudeBlock("", null, null));
      return text;
    }
    return streamed.text.length() > 0 && text.startsWith(streamed.text.toString())
        ? text.substring(streamed.text.length())
        : "";
  }
}
