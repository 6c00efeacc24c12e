package dev.parley.protocol;

import dev.parley.protocol.RecordIntrospector.RecordNullability;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/// Creates random events of each kind, with values that often break encoders. The same seed gives
/// the same events.
///
/// Each value has the form that reading JSON gives it, so that an event equals itself after it was
/// written and read. For one thread.
public final class RandomEvents {

  private static final int ATTEMPTS_MAX = 1_000;
  private static final int DEPTH_MAX = 4;
  private static final int NAME_MAX = 1_000;
  private static final String ID_CHARACTERS =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-";
  private static final Instant EPOCH = Instant.parse("2026-11-15T10:30:00Z");

  private final Random random;
  private final JsonNodeFactory nodes = JsonNodeFactory.instance;

  public RandomEvents(long seed) {
    random = new Random(seed);
  }

  /// An event of any kind.
  public Event event() {
    return event(pick(Kind.values()));
  }

  /// An event of this kind.
  public Event event(Kind kind) {
    return record(kind.type());
  }

  /// An entry of any kind.
  public Entry entry() {
    return entry(event());
  }

  /// An entry with this event.
  public Entry entry(Event event) {
    var origin = random.nextInt(4) == 0 ? null : record(Origin.class);
    var k = event.internal() ? 1 + random.nextInt(9) : 0;
    return new Entry(
        id(ContextId.class),
        new Position(random.nextLong(1L << 53), k),
        new UUID(random.nextLong(), random.nextLong()),
        instant(),
        origin,
        event);
  }

  /// Text with difficult characters; may be empty.
  public String text() {
    return switch (random.nextInt(16)) {
      case 0 -> "";
      case 1 -> "\"\\/\b\f\n\r\t\0\u001f\u007f";
      case 2 -> "👩‍👩‍👧‍👦 naïve Grüße 漢字 \u0000";
      case 3 -> "\ud83d";
      case 4 -> "a\udc4d\ud83db";
      case 5 -> "\u2028\u2029\ufeff\ufffe\uffff";
      case 6 -> "data: x\n\nid: 7\r\nevent: y";
      case 7 -> "null";
      case 8 -> random.nextInt(10) == 0 ? "long 長い 👍".repeat(4_000) : "{\"a\":[";
      default -> characters(random.nextInt(40));
    };
  }

  /// An id of this type.
  public <T extends Id> T id(Class<T> type) {
    var length = 1 + random.nextInt(random.nextInt(10) == 0 ? Id.LENGTH_MAX : 12);
    var text = new StringBuilder();
    while (text.length() < length) {
      text.append(ID_CHARACTERS.charAt(random.nextInt(ID_CHARACTERS.length())));
    }
    try {
      return type.getConstructor(String.class).newInstance(text.toString());
    } catch (ReflectiveOperationException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  /// A JSON object with any values, including null.
  public ObjectNode object() {
    return object(0);
  }

  private ObjectNode object(int depth) {
    var object = nodes.objectNode();
    for (var i = random.nextInt(4); i > 0; i--) {
      object.set(name(), node(depth + 1));
    }
    return object;
  }

  /// The parser rejects an unpaired surrogate in a name, so no input contains one.
  private String name() {
    var text = text();
    var half =
        text.codePoints()
            .anyMatch(c -> c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE);
    return half || text.length() > NAME_MAX ? "name" : text;
  }

  private JsonNode node(int depth) {
    return switch (random.nextInt(depth < DEPTH_MAX ? 9 : 7)) {
      case 0 -> nodes.stringNode(text());
      case 1 -> nodes.numberNode(random.nextInt());
      case 2 -> nodes.numberNode((1L << 40) + random.nextInt());
      case 3 -> nodes.numberNode(BigInteger.TWO.pow(80).add(BigInteger.valueOf(random.nextInt())));
      case 4 -> nodes.numberNode(decimal());
      case 5 -> nodes.booleanNode(random.nextBoolean());
      case 6 -> nodes.nullNode();
      case 7 -> object(depth);
      default -> {
        var array = nodes.arrayNode();
        for (var i = random.nextInt(4); i > 0; i--) {
          array.add(node(depth + 1));
        }
        yield array;
      }
    };
  }

  /// Tries again if the constructor of the record rejects the values.
  private <T> T record(Class<T> type) {
    for (var attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      var components = type.getRecordComponents();
      var values = Arrays.stream(components).map(this::component).toArray();
      try {
        var types = Arrays.stream(components).map(RecordComponent::getType);
        return type.getDeclaredConstructor(types.toArray(Class<?>[]::new)).newInstance(values);
      } catch (ReflectiveOperationException refused) {
        if (!(refused.getCause() instanceof IllegalArgumentException)) {
          throw new IllegalStateException(refused);
        }
      }
    }
    throw new AssertionError("no values for " + type);
  }

  private @Nullable Object component(RecordComponent component) {
    if (RecordNullability.optional(component) && random.nextInt(3) == 0) {
      return null;
    }
    // A JSON null means that such a component is missing.
    var type = component.getGenericType();
    return type == JsonNode.class ? until(() -> node(0)) : value(type);
  }

  private JsonNode until(Supplier<JsonNode> supplier) {
    return Stream.generate(supplier).filter(node -> !node.isNull()).findFirst().orElseThrow();
  }

  private Object value(Type type) {
    if (type instanceof ParameterizedType list && list.getRawType() == List.class) {
      var element = list.getActualTypeArguments()[0];
      return Stream.generate(() -> value(element)).limit(random.nextInt(4)).toList();
    }
    return value((Class<?>) type);
  }

  private Object value(Class<?> type) {
    if (type == String.class) {
      return text();
    } else if (type == boolean.class || type == Boolean.class) {
      return random.nextBoolean();
    } else if (type == int.class || type == Integer.class) {
      return random.nextInt(random.nextBoolean() ? 12 : Integer.MAX_VALUE);
    } else if (type == long.class || type == Long.class) {
      return random.nextLong(random.nextBoolean() ? 12 : Long.MAX_VALUE);
    } else if (type == double.class) {
      return random.nextInt(5) == 0 ? (double) random.nextInt(2) : random.nextDouble();
    } else if (type == BigDecimal.class) {
      return decimal();
    } else if (type == Instant.class) {
      return instant();
    } else if (type == ObjectNode.class) {
      return object();
    } else if (type == JsonNode.class) {
      return node(0);
    } else if (type.isEnum()) {
      return pick(type.getEnumConstants());
    } else if (Id.class.isAssignableFrom(type)) {
      return id(type.asSubclass(Id.class));
    }
    return record(type);
  }

  private BigDecimal decimal() {
    return new BigDecimal(new BigInteger(100, random), 1 + random.nextInt(40));
  }

  private Instant instant() {
    return EPOCH.plusMillis(random.nextLong(-1_000_000_000_000L, 1_000_000_000_000L));
  }

  private String characters(int length) {
    var text = new StringBuilder();
    while (text.length() < length) {
      var wide = random.nextInt(4) == 0;
      text.append((char) random.nextInt(wide ? Character.MAX_VALUE + 1 : 0x80));
    }
    return text.toString();
  }

  private <T> T pick(T[] choices) {
    return choices[random.nextInt(choices.length)];
  }
}
