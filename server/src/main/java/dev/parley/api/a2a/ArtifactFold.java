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
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
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
    var artifactBuilder = artifacts.get(id);
    var first = artifactBuilder == null;
    if (artifactBuilder == null) {
      artifactBuilder = new ArtifactBuilder(id, TEXT, null, null, false, null);
      artifacts.put(id, artifactBuilder);
    }
    var a2aArtifactChunk = chunk(artifactBuilder, A2aPart.text(delta.delta()), !first, false);
    return repeatsText
        ? new A2aArtifactChunk(
            a2aArtifactChunk.artifact(), a2aArtifactChunk.append(), false, ChunkKind.PARTIAL)
        : a2aArtifactChunk;
  }

  /// Ends a text, and the text that it replaces.
  List<A2aArtifactChunk> text(TaskId task, ContentComplete end) {
    var id = id(task, end.blockId());
    var pieces = new ArrayList<A2aArtifactChunk>();
    if (end.replaces() != null) {
      replaced(end.replaces().value(), id).ifPresent(pieces::add);
    }
    var artifactBuilder = artifacts.get(id);
    if (artifactBuilder == null && end.content().isEmpty()) {
      return pieces;
    }
    var first = artifactBuilder == null;
    if (artifactBuilder == null) {
      artifactBuilder = new ArtifactBuilder(id, TEXT, null, null, false, null);
      artifacts.put(id, artifactBuilder);
    }
    if (Boolean.TRUE.equals(end.partial())) {
      artifactBuilder.metadata = Json.object().put("partial", true);
    }
    if (repeatsText) {
      artifactBuilder.parts.clear();
      var a2aArtifactChunk = chunk(artifactBuilder, A2aPart.text(end.content()), false, true);
      pieces.add(new A2aArtifactChunk(a2aArtifactChunk.artifact(), false, true, ChunkKind.WHOLE));
    } else {
      pieces.add(chunk(artifactBuilder, A2aPart.text(first ? end.content() : ""), !first, true));
    }
    return pieces;
  }

  /// A replaced text becomes an empty text: A2A has no way to remove an artifact.
  private Optional<A2aArtifactChunk> replaced(String id, String by) {
    var artifactBuilder = artifacts.get(id);
    if (artifactBuilder == null) {
      return Optional.empty();
    }
    artifactBuilder.metadata = Json.object().put("replacedBy", by);
    artifactBuilder.parts.clear();
    return Optional.of(chunk(artifactBuilder, A2aPart.text(""), false, true));
  }

  private static String id(TaskId task, @Nullable BlockId block) {
    return block == null ? TEXT + "-" + task : block.value();
  }

  /// Adds a chunk of a file.
  A2aArtifactChunk file(FileWrite write) {
    var id = write.artifactId().value();
    var artifactBuilder = artifacts.get(id);
    if (artifactBuilder == null || write.index() == 0) {
      artifactBuilder =
          new ArtifactBuilder(
              id,
              write.name(),
              write.description(),
              write.mimeType(),
              write.encoding() == Encoding.BASE64,
              artifactMetadata("file", write.version(), write.metadata()));
      artifacts.put(id, artifactBuilder);
    }
    var partContent = content(artifactBuilder, write);
    var part = new A2aPart(partContent, artifactBuilder.name, artifactBuilder.mediaType, null);
    return chunk(artifactBuilder, part, write.index() > 0, write.complete());
  }

  /// The file's bytes, or its address if the agent gave an address instead.
  private static A2aPart.PartContent content(ArtifactBuilder artifactBuilder, FileWrite write) {
    var url =
        artifactBuilder.metadata == null ? "" : artifactBuilder.metadata.path("url").asString("");
    if (!url.isEmpty() && write.data().isEmpty()) {
      return new A2aPart.UrlContent(url);
    }
    return new A2aPart.RawContent(
        artifactBuilder.base64
            ? write.data()
            : Base64.getEncoder().encodeToString(write.data().getBytes(StandardCharsets.UTF_8)));
  }

  /// Adds a data record.
  A2aArtifactChunk data(DataWrite write) {
    var id = write.artifactId().value();
    var about = artifactMetadata("data", write.version(), write.metadata());
    var artifactBuilder =
        new ArtifactBuilder(id, write.name(), write.description(), null, false, about);
    artifacts.put(id, artifactBuilder);
    return chunk(artifactBuilder, A2aPart.data(write.data()), false, true);
  }

  /// Adds rows to a dataset.
  A2aArtifactChunk rows(DatasetWrite write) {
    var id = write.artifactId().value();
    var artifactBuilder = artifacts.get(id);
    if (artifactBuilder == null || write.index() == 0) {
      var about = artifactMetadata("dataset", write.version(), write.metadata());
      if (write.schema() != null) {
        about.set("schema", write.schema());
      }
      artifactBuilder =
          new ArtifactBuilder(id, write.name(), write.description(), null, false, about);
      artifacts.put(id, artifactBuilder);
    }
    var rows = Json.object();
    write.rows().forEach(rows.putArray("rows")::add);
    return chunk(artifactBuilder, A2aPart.data(rows), write.index() > 0, write.complete());
  }

  private static ObjectNode artifactMetadata(
      String type, @Nullable Integer version, @Nullable ObjectNode told) {
    var about = told == null ? Json.object() : told.deepCopy();
    about.put("type", type);
    if (version != null) {
      about.put("version", version);
    }
    return about;
  }

  private A2aArtifactChunk chunk(
      ArtifactBuilder artifactBuilder, A2aPart part, boolean append, boolean last) {
    if (retainsContent) {
      artifactBuilder.parts.add(part);
    }
    return new A2aArtifactChunk(
        artifactBuilder.toArtifact(List.of(part)), append, last, ChunkKind.PLAIN);
  }

  /// All artifacts, with their chunks merged.
  List<A2aArtifact> all() {
    if (!retainsContent) {
      throw new IllegalStateException("the content of the artifacts was discarded");
    }
    return artifacts.values().stream()
        .map(artifactBuilder -> artifactBuilder.toArtifact(PartMerger.merge(artifactBuilder.parts)))
        .toList();
  }

  /// Discards content, and from now on keeps only what the next chunk needs.
  void discardContent() {
    retainsContent = false;
    artifacts.values().forEach(artifactBuilder -> artifactBuilder.parts.clear());
  }
}
