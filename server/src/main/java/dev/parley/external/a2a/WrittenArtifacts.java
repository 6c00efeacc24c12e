package dev.parley.external.a2a;

import dev.parley.agent.TaskOutput;
import dev.parley.protocol.ArtifactEvent.DataWrite;
import dev.parley.protocol.ArtifactEvent.DatasetWrite;
import dev.parley.protocol.ArtifactEvent.FileWrite;
import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.BlockId;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.task.TaskSources;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.IntSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// The content of a remote task's artifacts that is already in the log. For one thread.
final class WrittenArtifacts {

  /// In an artifact's metadata: the key of the remote file, data record or dataset.
  static final String FILE = "file";

  static final String DATA = "data";
  static final String ROWS = "rows";

  /// The text of an artifact, and its open block, if any.
  static final class WrittenText {
    final StringBuilder all = new StringBuilder();
    @Nullable BlockId block;
    @Nullable BlockId last;
    @Nullable BlockId replaces;
    int deltas;
    private int blockStart;
    private @Nullable TaskOutput output;

    /// The output that continues the open block; null if no block is open.
    @Nullable TaskOutput output(TaskSources sources, IntSupplier thoughtNumbers) {
      if (output == null && block != null) {
        output =
            new TaskOutput(sources, thoughtNumbers)
                .continuing(block, all.substring(blockStart), deltas)
                .replacing(replaces);
      }
      return output;
    }
  }

  /// A file or a dataset: how many bytes or rows of it are written.
  static final class WrittenFile {
    final ArtifactId id;
    int next;
    long bytes;
    boolean complete;

    WrittenFile(ArtifactId id) {
      this.id = id;
    }
  }

  /// The last written version of a data record.
  record WrittenData(ArtifactId id, ObjectNode value, int version) {}

  final Map<String, WrittenText> texts = new LinkedHashMap<>();
  final Map<String, WrittenFile> files = new LinkedHashMap<>();
  final Map<String, WrittenData> data = new LinkedHashMap<>();
  final Map<String, WrittenFile> rows = new LinkedHashMap<>();
  private final Map<BlockId, WrittenText> blocks = new HashMap<>();
  private final Map<ArtifactId, WrittenFile> byId = new HashMap<>();

  void clear() {
    texts.clear();
    files.clear();
    data.clear();
    rows.clear();
  }

  /// Begins a block with an artifact's text: the rest of it, or all of it if `fresh`.
  void begin(String artifact, BlockId block, boolean fresh) {
    var writtenText = texts.computeIfAbsent(artifact, _ -> new WrittenText());
    if (fresh) {
      writtenText.all.setLength(0);
      writtenText.replaces = writtenText.last;
    }
    writtenText.block = block;
    writtenText.last = block;
    writtenText.blockStart = writtenText.all.length();
    writtenText.deltas = 0;
    writtenText.output = null;
    blocks.put(block, writtenText);
  }

  void add(ContentDelta delta) {
    var writtenText = delta.blockId() == null ? null : blocks.get(delta.blockId());
    if (writtenText != null) {
      writtenText.all.append(delta.delta());
      writtenText.deltas++;
    }
  }

  void end(ContentComplete complete) {
    var block = complete.blockId();
    var writtenText = block == null ? null : blocks.remove(block);
    if (writtenText != null && Objects.equals(writtenText.block, block)) {
      writtenText.block = null;
      writtenText.replaces = null;
      writtenText.output = null;
    }
  }

  void add(FileWrite write) {
    var bytes = (write.data().length() / 4) * 3;
    var padding = write.data().endsWith("==") ? 2 : write.data().endsWith("=") ? 1 : 0;
    begin(files, key(write.metadata(), FILE), write.artifactId());
    add(write.artifactId(), write.index(), bytes - padding, write.complete());
  }

  void add(DatasetWrite write) {
    begin(rows, key(write.metadata(), ROWS), write.artifactId());
    add(write.artifactId(), write.index(), write.rows().size(), write.complete());
  }

  private void begin(Map<String, WrittenFile> kind, String key, ArtifactId id) {
    if (!key.isEmpty()) {
      byId.put(id, kind.computeIfAbsent(key, _ -> new WrittenFile(id)));
    }
  }

  private void add(ArtifactId id, int index, long more, boolean complete) {
    var writtenFile = byId.get(id);
    if (writtenFile != null) {
      writtenFile.next = index + 1;
      writtenFile.bytes += more;
      writtenFile.complete |= complete;
    }
  }

  void add(DataWrite write) {
    var key = key(write.metadata(), DATA);
    if (!key.isEmpty()) {
      var version = write.version() == null ? 1 : write.version();
      data.put(key, new WrittenData(write.artifactId(), write.data(), version));
    }
  }

  private static String key(@Nullable ObjectNode metadata, String name) {
    JsonNode about = metadata == null ? null : metadata.path(RemoteTaskState.STATE);
    return about == null ? "" : about.path(name).asString("");
  }

  /// The answer: the text of all artifacts.
  String answer() {
    return texts.values().stream()
        .map(writtenText -> writtenText.all.toString())
        .filter(text -> !text.isBlank())
        .collect(Collectors.joining("\n\n"));
  }
}
