package dev.parley.protocol;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.cfg.CoercionAction;
import tools.jackson.databind.cfg.CoercionInputShape;
import tools.jackson.databind.cfg.EnumFeature;
import tools.jackson.databind.cfg.JsonNodeFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.type.LogicalType;

/// Reads and writes JSON.
///
/// Unknown fields are ignored, nulls are never written, a field may be missing only if its record
/// component is `@Nullable`, ids are strings, and enums use their wire names. Types are not
/// converted: `"1"` is not a number, `1` is not a string, `1.5` is not an integer. Numbers in
/// free-form objects keep all digits.
public final class Json {

  private static final int DEPTH_MAX = 200;
  private static final int NUMBER_MAX = 1_000;

  // Input is written again inside events and replies, where it is nested more deeply and its
  // numbers may be longer. All of that must be readable again, or one request could damage a log.
  private static final int OWN_DEPTH_MAX = 500;
  private static final int OWN_NUMBER_MAX = 10_000;

  private static final JsonMapper MAPPER = mapper(OWN_DEPTH_MAX, OWN_NUMBER_MAX);
  private static final JsonMapper OUTSIDE = mapper(DEPTH_MAX, NUMBER_MAX);

  private Json() {}

  /// The mapper that Parley uses for its own JSON. It is immutable. For JSON from outside, see
  /// [#read].
  public static JsonMapper mapper() {
    return MAPPER;
  }

  /// A new, empty JSON object.
  public static ObjectNode object() {
    return MAPPER.createObjectNode();
  }

  /// Writes `value` as UTF-8.
  public static byte[] bytes(Object value) {
    return MAPPER.writeValueAsBytes(value);
  }

  /// Reads one JSON value from outside into a record.
  ///
  /// @throws Rejection.Invalid if it is not JSON or does not match the record; the message names
  ///     the field
  public static <T> T read(byte[] json, Class<T> type) {
    return read(() -> OUTSIDE.readValue(json, type));
  }

  /// Reads JSON that [#bytes] wrote. Its limits are higher than those for JSON from outside.
  static <T> T readOwn(byte[] json, Class<T> type) {
    return read(() -> MAPPER.readValue(json, type));
  }

  /// Converts a tree to a record.
  ///
  /// @throws Rejection.Invalid if it does not match the record; the message names the field
  public static <T> T read(ObjectNode tree, Class<T> type) {
    return read(() -> MAPPER.treeToValue(tree, type));
  }

  /// Sets a field if there is a value: a missing value is a missing field, never a JSON null.
  public static void putPresent(ObjectNode object, String name, @Nullable String value) {
    if (value != null) {
      object.put(name, value);
    }
  }

  /// Sets a field if there is a value.
  public static void putPresent(ObjectNode object, String name, @Nullable Integer value) {
    if (value != null) {
      object.put(name, value);
    }
  }

  /// Sets a field if there is a value.
  public static void putPresent(ObjectNode object, String name, @Nullable JsonNode value) {
    if (value != null) {
      object.set(name, value);
    }
  }

  /// Converts a JSON null to a missing value.
  static @Nullable JsonNode present(@Nullable JsonNode value) {
    return value == null || value.isNull() || value.isMissingNode() ? null : value;
  }

  private static <T> T read(Supplier<@Nullable T> reading) {
    try {
      var value = reading.get();
      if (value == null) {
        throw JsonRejections.notAnObject();
      }
      return value;
    } catch (JacksonException problem) {
      throw JsonRejections.rejection(problem);
    }
  }

  private static JsonMapper mapper(int depthMax, int numberMax) {
    var limits =
        StreamReadConstraints.builder()
            .maxNestingDepth(depthMax)
            .maxNumberLength(numberMax)
            .build();
    return JsonMapper.builder(JsonFactory.builder().streamReadConstraints(limits).build())
        .annotationIntrospector(new RecordIntrospector())
        .addModule(JsonStringTypes.module())
        .changeDefaultPropertyInclusion(
            inclusion -> inclusion.withValueInclusion(JsonInclude.Include.NON_NULL))
        .disable(EnumFeature.READ_ENUMS_USING_TO_STRING, EnumFeature.WRITE_ENUMS_USING_TO_STRING)
        .enable(EnumFeature.FAIL_ON_NUMBERS_FOR_ENUMS)
        .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
        .enable(
            DeserializationFeature.FAIL_ON_TRAILING_TOKENS,
            DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
        .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
        .disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
        .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
        .withCoercionConfig(
            LogicalType.Textual,
            text ->
                text.setCoercion(CoercionInputShape.Integer, CoercionAction.Fail)
                    .setCoercion(CoercionInputShape.Float, CoercionAction.Fail)
                    .setCoercion(CoercionInputShape.Boolean, CoercionAction.Fail))
        .build();
  }
}
