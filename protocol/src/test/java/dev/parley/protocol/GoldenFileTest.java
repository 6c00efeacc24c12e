package dev.parley.protocol;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.protocol.RecordIntrospector.RecordNullability;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;

/// The wire format of each kind: EVENT-2, EVENT-8 to EVENT-52, and DESIGN §3 for the kinds that Looopy
/// lacks.
class GoldenFileTest {

  /// Fields of Looopy's examples that belong to the envelope, not to the event.
  private static final Set<String> ENVELOPE = Set.of("kind", "contextId", "taskId", "timestamp");

  private static final int LOOOPY_EXAMPLES = 30;

  static Stream<GoldenFile> ours() {
    return GoldenFile.ours();
  }

  static Stream<GoldenFile> looopy() {
    return GoldenFile.looopy();
  }

  static Stream<GoldenFile> all() {
    return Stream.concat(ours(), looopy());
  }

  @ParameterizedTest
  @MethodSource("ours")
  void an_entry_is_read_and_written_again_byte_for_byte(GoldenFile goldenFile) {
    var entry = EventJson.entry(goldenFile.json().getBytes(UTF_8));

    assertThat(entry.kind()).isEqualTo(goldenFile.kind());
    assertThat(EventJson.text(entry)).isEqualTo(goldenFile.json());
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void the_newest_golden_entry_has_every_field_that_its_kind_can_have(Kind kind) {
    var goldenFile = GoldenFile.of(kind);
    var fields =
        Arrays.stream(goldenFile.kind().type().getRecordComponents()).map(c -> c.getName());

    assertThat(goldenFile.tree().propertyNames()).containsAll(fields.toList());
  }

  @Test
  void every_looopy_example_is_here() {
    assertThat(looopy()).hasSize(LOOOPY_EXAMPLES);
  }

  /// EVENT-8 to EVENT-51, with Looopy's own examples.
  @ParameterizedTest
  @MethodSource("looopy")
  void a_looopy_example_keeps_all_its_fields(GoldenFile goldenFile) {
    var event = EventJson.event(goldenFile.kind(), goldenFile.tree());

    var written = Json.mapper().readTree(EventJson.payload(event));

    assertThat(written).isEqualTo(goldenFile.tree().remove(ENVELOPE));
  }

  /// EVENT-2: fields of a newer version do not break an older one.
  @ParameterizedTest
  @MethodSource("all")
  void unknown_fields_are_ignored(GoldenFile goldenFile) {
    var fields = goldenFile.tree();
    var known = EventJson.event(goldenFile.kind(), fields);

    fields.put("addedLater", "x").putObject("alsoAddedLater").putNull("y");

    assertThat(EventJson.event(goldenFile.kind(), fields)).isEqualTo(known);
  }

  @ParameterizedTest
  @MethodSource("all")
  void a_missing_field_is_refused_by_name_exactly_when_it_is_required(GoldenFile goldenFile) {
    for (var component : goldenFile.kind().type().getRecordComponents()) {
      var without = goldenFile.tree();
      without.remove(component.getName());
      if (RecordNullability.optional(component)) {
        var written = EventJson.payload(EventJson.event(goldenFile.kind(), without));
        assertThat(Json.mapper().readTree(written).has(component.getName())).isFalse();
      } else {
        assertThatThrownBy(() -> EventJson.event(goldenFile.kind(), without))
            .isInstanceOf(Rejection.Invalid.class)
            .hasMessage(component.getName() + " is missing");
      }
    }
  }

  @ParameterizedTest
  @MethodSource("all")
  void null_is_the_same_as_missing(GoldenFile goldenFile) {
    for (var component : goldenFile.kind().type().getRecordComponents()) {
      var withNull = goldenFile.tree().putNull(component.getName());
      if (RecordNullability.optional(component)) {
        var without = goldenFile.tree();
        without.remove(component.getName());
        assertThat(EventJson.event(goldenFile.kind(), withNull))
            .isEqualTo(EventJson.event(goldenFile.kind(), without));
      } else {
        assertThatThrownBy(() -> EventJson.event(goldenFile.kind(), withNull))
            .isInstanceOf(Rejection.Invalid.class)
            .hasMessage(component.getName() + " is missing");
      }
    }
  }

  /// DESIGN §3: absent means absent.
  @ParameterizedTest
  @MethodSource("ours")
  void an_event_with_only_what_is_required_has_nothing_else_when_written(GoldenFile goldenFile) {
    var required =
        Arrays.stream(goldenFile.kind().type().getRecordComponents())
            .filter(component -> !RecordNullability.optional(component))
            .map(component -> component.getName())
            .collect(Collectors.toSet());
    var fields = goldenFile.tree().retain(required);

    var written = EventJson.payload(EventJson.event(goldenFile.kind(), fields));

    assertThat(Json.mapper().readTree(written)).isEqualTo(fields);
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void a_field_of_the_wrong_type_is_refused_by_name(Kind kind) {
    var goldenFile = GoldenFile.of(kind);
    for (var component : goldenFile.kind().type().getRecordComponents()) {
      if (component.getType() == JsonNode.class) {
        continue;
      }
      for (var wrong : wrong(goldenFile.tree().get(component.getName()))) {
        var fields = goldenFile.tree().set(component.getName(), wrong);
        assertThatThrownBy(() -> EventJson.event(goldenFile.kind(), fields))
            .as("%s = %s", component.getName(), wrong)
            .isInstanceOf(Rejection.Invalid.class)
            .hasMessageStartingWith(component.getName() + " must be ")
            .hasMessageNotContainingAny("`", "java", "dev.parley", "creator");
      }
    }
  }

  /// A value of each JSON type except that of `right`.
  private static List<JsonNode> wrong(JsonNode right) {
    var values = new ArrayList<JsonNode>();
    Json.mapper().readTree("[\"1\", \"true\", \"\", true, 1, 1.5, [], {}]").forEach(values::add);
    values.removeIf(value -> sameType(value, right));
    return values;
  }

  /// An integer is also valid for a number.
  private static boolean sameType(JsonNode value, JsonNode right) {
    return (value.isNumber() && right.isNumber())
        ? right.isFloatingPointNumber() || value.isIntegralNumber()
        : value.getNodeType() == right.getNodeType();
  }
}
