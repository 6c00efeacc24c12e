package dev.parley.api.a2a;

import dev.parley.a2a.A2aArtifact;
import dev.parley.a2a.A2aPart;
import dev.parley.protocol.ArtifactEvent.DataWrite;
import dev.parley.protocol.ArtifactEvent.DatasetWrite;
import dev.parley.protocol.ArtifactEvent.Encoding;
import dev.parley.protocol.ArtifactEvent.FileWrite;
import dev.parley.protocol.BlockId;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.Json;
import dev.parley.protocol.TaskId;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Folds a task's events into artifacts: returns each chunk, and all artifacts so far. For one
/// thread.
final class ArtifactFold {

  private static final String TEXT = "text";

  private final Map<String, ArtifactBuilder> artifacts = new LinkedHashMap<>();
  private final boolean repeatsText;
  private boolean retainsContent = true;

  /// @param repeatsText whether the last chunk of a text repeats the whole text, instead of being
  ///     empty
  ArtifactFold(boolean repeatsText) {
    this.repeatsText = repeatsText;
  }

  /// The kind of a chunk, for clients that get the whole text again at its end.
  enum ChunkKind {
    /// Not text, or text that is not repeated.
    PLAIN,
    /// A part of a text.
    PARTIAL,
    /// The whole text.
    WHOLE
  }

  /// A chunk of an artifact.
  record A2aArtifactChunk(A2aArtifact artifact, boolean append, boolean last, ChunkKind kind) {}

  /// True if there are no artifacts.
  boolean isEmpty() {
    return artifacts.isEmpty();
  }

  /// An artifact that is still being written.
  private static final class ArtifactBuilder {
    final String id;
    final @Nullable String name;
    final @Nullable String description;
    final @Nullable String mediaType;
    final boolean base64;
    @Nullable ObjectNode metadata;
    final List<A2aPart> parts = new ArrayList<>();

    ArtifactBuilder(
        String id,
        @Nullable String name,
        @Nullable String description,
        @Nullable String mediaType,
        boolean base64,
        @Nullable ObjectNode metadata) {
      this.id = id;
      this.name = name;
      this.description = description;
      this.mediaType = mediaType;
      this.base64 = base64;
      this.metadata = metadata;
    }

    A2aArtifact toArtifact(List<A2aPart> some) {
      return new A2aArtifact(id, name, description, some, metadata, List.of());
    }
  }

  /// Adds a chunk of text.
  A2aArtifactChunk text(TaskId task, ContentDelta delta) {
    var id = id(task, delta.blockId());
    var builder = artifacts.get(id);
    var first = builder == null;
    if (builder == null) {
      builder = new ArtifactBuilder(id, TEXT, null, null, false, null);
      artifacts.put(id, builder);
    }
    var chunk = chunk(builder, A2aPart.text(delta.delta()), !first, false);
    return repeatsText
        ? new A2aArtifactChunk(chunk.artifact(), chunk.append(), false, ChunkKind.PARTIAL)
        : chunk;
  }

  /// Ends a text, and the text that it replaces.
  List<A2aArtifactChunk> text(TaskId task, ContentComplete end) {
    var id = id(task, end.blockId());
    var pieces = new ArrayList<A2aArtifactChunk>();
    if (end.replaces() != null) {
      replaced(end.replaces().value(), id).ifPresent(pieces::add);
    }
    var builder = artifacts.get(id);
    if (builder == null && end.content().isEmpty()) {
      return pieces;
    }
    var first = builder == null;
    if (builder == null) {
      builder = new ArtifactBuilder(id, TEXT, null, null, false, null);
      artifacts.put(id, builder);
    }
    if (Boolean.TRUE.equals(end.partial())) {
      builder.metadata = Json.object().put("partial", true);
    }
    if (repeatsText) {
      builder.parts.clear();
      var chunk = chunk(builder, A2aPart.text(end.content()), false, true);
      pieces.add(new A2aArtifactChunk(chunk.artifact(), false, true, ChunkKind.WHOLE));
    } else {
      pieces.add(chunk(builder, A2aPart.text(first ? end.content() : ""), !first, true));
    }
    return pieces;
  }

  /// A replaced text becomes an empty text: A2A has no way to remove an artifact.
  private Optional<A2aArtifactChunk> replaced(String id, String by) {
    var builder = artifacts.get(id);
    if (builder == null) {
      return Optional.empty();
    }
    builder.metadata = Json.object().put("replacedBy", by);
    builder.parts.clear();
    return Optional.of(chunk(builder, A2aPart.text(""), false, true));
  }

  private static String id(TaskId task, @Nullable BlockId block) {
    return block == null ? TEXT + "-" + task : block.value();
  }

  /// Adds a chunk of a file.
  A2aArtifactChunk file(FileWrite write) {
    var id = write.artifactId().value();
    var builder = artifacts.get(id);
    if (builder == null || write.index() == 0) {
      builder =
          new ArtifactBuilder(
              id,
              write.name(),
              write.description(),
              write.mimeType(),
              write.encoding() == Encoding.BASE64,
              artifactMetadata("file", write.version(), write.metadata()));
      artifacts.put(id, builder);
    }
    var content = content(builder, write);
    var part = new A2aPart(content, builder.name, builder.mediaType, null);
    return chunk(builder, part, write.index() > 0, write.complete());
  }

  /// The file's bytes, or its address if the agent gave an address instead.
  private static A2aPart.PartContent content(ArtifactBuilder builder, FileWrite write) {
    var url = builder.metadata == null ? "" : builder.metadata.path("url").asString("");
    if (!url.isEmpty() && write.data().isEmpty()) {
      return new A2aPart.UrlContent(url);
    }
    return new A2aPart.RawContent(
        builder.base64
            ? write.data()
            : Base64.getEncoder().encodeToString(write.data().getBytes(StandardCharsets.UTF_8)));
  }

  /// Adds a data record.
  A2aArtifactChunk data(DataWrite write) {
    var id = write.artifactId().value();
    var about = artifactMetadata("data", write.version(), write.metadata());
    var builder = new ArtifactBuilder(id, write.name(), write.description(), null, false, about);
    artifacts.put(id, builder);
    return chunk(builder, A2aPart.data(write.data()), false, true);
  }

  /// Adds rows to a dataset.
  A2aArtifactChunk rows(DatasetWrite write) {
    var id = write.artifactId().value();
    var builder = artifacts.get(id);
    if (builder == null || write.index() == 0) {
      var about = artifactMetadata("dataset", write.version(), write.metadata());
      Json.putPresent(about, "schema", write.schema());
      builder = new ArtifactBuilder(id, write.name(), write.description(), null, false, about);
      artifacts.put(id, builder);
    }
    var rows = Json.object();
    write.rows().forEach(rows.putArray("rows")::add);
    return chunk(builder, A2aPart.data(rows), write.index() > 0, write.complete());
  }

  private static ObjectNode artifactMetadata(
      String type, @Nullable Integer version, @Nullable ObjectNode told) {
    var about = told == null ? Json.object() : told.deepCopy();
    about.put("type", type);
    Json.putPresent(about, "version", version);
    return about;
  }

  private A2aArtifactChunk chunk(
      ArtifactBuilder builder, A2aPart part, boolean append, boolean last) {
    if (retainsContent) {
      builder.parts.add(part);
    }
    return new A2aArtifactChunk(builder.toArtifact(List.of(part)), append, last, ChunkKind.PLAIN);
  }

  /// All artifacts, with their chunks merged.
  List<A2aArtifact> all() {
    if (!retainsContent) {
      throw new IllegalStateException("the content of the artifacts was discarded");
    }
    return artifacts.values().stream()
        .map(builder -> builder.toArtifact(PartMerger.merge(builder.parts)))
        .toList();
  }

  /// Discards content, and from now on keeps only what the next chunk needs.
  void discardContent() {
    retainsContent = false;
    artifacts.values().forEach(builder -> builder.parts.clear());
  }

  /// Merges parts that were written one after the other into one part.
  static final class PartMerger {

    private PartMerger() {}

    static List<A2aPart> merge(List<A2aPart> parts) {
      if (parts.size() < 2) {
        return parts;
      }
      var first = parts.getFirst();
      var content =
          switch (first.content()) {
            case A2aPart.TextContent _ -> text(parts);
            case A2aPart.RawContent rawContent -> bytes(parts, rawContent);
            case A2aPart.DataContent _ -> rows(parts);
            case A2aPart.UrlContent urlContent -> urlContent;
          };
      return List.of(new A2aPart(content, first.filename(), first.mediaType(), first.metadata()));
    }

    private static A2aPart.PartContent text(List<A2aPart> parts) {
      var text = new StringBuilder();
      for (var part : parts) {
        if (part.content() instanceof A2aPart.TextContent(var more)) {
          text.append(more);
        }
      }
      return new A2aPart.TextContent(text.toString());
    }

    private static A2aPart.PartContent bytes(List<A2aPart> parts, A2aPart.RawContent first) {
      var bytes = new ByteArrayOutputStream();
      try {
        for (var part : parts) {
          if (part.content() instanceof A2aPart.RawContent(var more)) {
            bytes.writeBytes(Base64.getDecoder().decode(more));
          }
        }
      } catch (IllegalArgumentException notBase64) {
        return first;
      }
      return new A2aPart.RawContent(Base64.getEncoder().encodeToString(bytes.toByteArray()));
    }

    private static A2aPart.PartContent rows(List<A2aPart> parts) {
      var all = new ArrayList<JsonNode>();
      for (var part : parts) {
        if (part.content() instanceof A2aPart.DataContent(var more)) {
          more.path("rows").forEach(all::add);
        }
      }
      var rows = Json.object();
      rows.putArray("rows").addAll(all);
      return new A2aPart.DataContent(rows);
    }
  }
}
