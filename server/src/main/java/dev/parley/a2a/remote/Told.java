package dev.parley.a2a.remote;

import dev.parley.protocol.ArtifactEvent.DataWrite;
import dev.parley.protocol.ArtifactEvent.DatasetWrite;
import dev.parley.protocol.ArtifactEvent.FileWrite;
import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.BlockId;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// The content of a remote task's artifacts that is already in the log. For one thread.
final class Told {

  /// In an artifact's metadata: the key of the remote file, data record or dataset.
  static final String FILE = "file";

  static final String DATA = "data";
  static final String ROWS = "rows";

  /// The text of an artifact: all of it, and the open block, if any.
  static final class Text {
    final StringBuilder all = new StringBuilder();
    final StringBuilder inBlock = new StringBuilder();
    @Nullable BlockId block;
    @Nullable BlockId last;
    @Nullable BlockId replaces;
    int deltas;
  }

  /// A file or a dataset: how many bytes or rows of it are written.
  static final class File {
    final ArtifactId id;
    int next;
    long bytes;
    boolean complete;

    File(ArtifactId id) {
      this.id = id;
    }
  }

  /// The last written version of a data record.
  record Data(ArtifactId id, ObjectNode value, int version) {}

  final Map<String, Text> texts = new LinkedHashMap<>();
  final Map<String, File> files = new LinkedHashMap<>();
  final Map<String, Data> data = new LinkedHashMap<>();
  final Map<String, File> rows = new LinkedHashMap<>();
  private final Map<BlockId, Text> blocks = new HashMap<>();
  private final Map<ArtifactId, File> byId = new HashMap<>();

  void clear() {
    texts.clear();
    files.clear();
    data.clear();
    rows.clear();
  }

  /// Begins a block with an artifact's text: the rest of it, or all of it if `fresh`.
  void begin(String artifact, BlockId block, boolean fresh) {
    var text = texts.computeIfAbsent(artifact, _ -> new Text());
    if (fresh) {
      text.all.setLength(0);
      text.replaces = text.last;
    }
    text.block = block;
    text.last = block;
    text.inBlock.setLength(0);
    text.deltas = 0;
    blocks.put(block, text);
  }

  void add(ContentDelta delta) {
    var text = delta.blockId() == null ? null : blocks.get(delta.blockId());
    if (text != null) {
      text.all.append(delta.delta());
      text.inBlock.append(delta.delta());
      text.deltas++;
    }
  }

  void end(ContentComplete complete) {
    var block = complete.blockId();
    var text = block == null ? null : blocks.remove(block);
    if (text != null && Objects.equals(text.block, block)) {
      text.block = null;
      text.replaces = null;
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

  private void begin(Map<String, File> kind, String key, ArtifactId id) {
    if (!key.isEmpty()) {
      byId.put(id, kind.computeIfAbsent(key, _ -> new File(id)));
    }
  }

  private void add(ArtifactId id, int index, long more, boolean complete) {
    var file = byId.get(id);
    if (file != null) {
      file.next = index + 1;
      file.bytes += more;
      file.complete |= complete;
    }
  }

  void add(DataWrite write) {
    var key = key(write.metadata(), DATA);
    if (!key.isEmpty()) {
      var version = write.version() == null ? 1 : write.version();
      data.put(key, new Data(write.artifactId(), write.data(), version));
    }
  }

  private static String key(@Nullable ObjectNode metadata, String name) {
    JsonNode about = metadata == null ? null : metadata.path(RemoteStory.STATE);
    return about == null ? "" : about.path(name).asString("");
  }

  /// The answer: the text of all artifacts.
  String answer() {
    return texts.values().stream()
        .map(text -> text.all.toString())
        .filter(text -> !text.isBlank())
        .collect(Collectors.joining("\n\n"));
  }
}
