package dev.parley.server;

import dev.parley.protocol.Rejection;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.regex.Pattern;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.DatabindException;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.ValueDeserializer;
import tools.jackson.databind.deser.DeserializationProblemHandler;
import tools.jackson.databind.deser.std.StdScalarDeserializer;
import tools.jackson.databind.exc.MismatchedInputException;
import tools.jackson.databind.module.SimpleModule;
import tools.jackson.dataformat.yaml.YAMLMapper;

/// Reads `parley.yaml`: refuses what it does not know, with the line, and fills in `${VARIABLES}`.
final class ConfigYaml {

  private static final Pattern VARIABLE = Pattern.compile("\\$\\{([A-Za-z_][A-Za-z0-9_]*)}");
  private static final Pattern DURATION = Pattern.compile("(\\d{1,9})(ms|s|m|h|d)|0");

  private final Map<String, String> environment;

  ConfigYaml(Map<String, String> environment) {
    this.environment = Map.copyOf(environment);
  }

  ConfigFile read(Path file) {
    try {
      var text = Files.readString(file);
      if (text.lines().allMatch(line -> line.isBlank() || line.strip().startsWith("#"))) {
        return ConfigFile.EMPTY;
      }
      return mapper().readValue(text, ConfigFile.class);
    } catch (IOException unreadable) {
      throw invalid(
          Files.exists(file)
              ? file + " cannot be read: " + unreadable.getMessage()
              : "there is no file " + file);
    } catch (UnknownSetting unknown) {
      throw invalid(file + line(file, unknown) + ": there is no setting " + unknown.name);
    } catch (DatabindException misfit) {
      throw invalid(at(file, misfit) + plain(misfit));
    } catch (JacksonException malformed) {
      throw invalid(at(file, malformed) + "this is not YAML: " + firstLine(malformed));
    }
  }

  private static String firstLine(JacksonException malformed) {
    return String.valueOf(malformed.getOriginalMessage()).lines().findFirst().orElse("");
  }

  static Rejection invalid(String message) {
    return new Rejection.Invalid("invalid-configuration", message);
  }

  private YAMLMapper mapper() {
    var module = new SimpleModule("parley-yaml");
    module.addDeserializer(String.class, new TextReader());
    module.addDeserializer(Duration.class, new DurationReader());
    return YAMLMapper.builder()
        .addModule(module)
        .addHandler(new UnknownSettings())
        .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
        .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
        .build();
  }

  private String expand(String text, JsonParser yaml) {
    return VARIABLE
        .matcher(text)
        .replaceAll(
            found -> {
              var value = environment.get(found.group(1));
              if (value == null) {
                throw new Misfit(yaml, "the environment has no variable " + found.group(1));
              }
              return java.util.regex.Matcher.quoteReplacement(value);
            });
  }

  private static String at(Path file, JacksonException problem) {
    var place = problem.getLocation();
    return place == null || place.getLineNr() < 1
        ? file + ": "
        : file + ", line " + place.getLineNr() + ": ";
  }

  private static String plain(DatabindException misfit) {
    var path = new StringBuilder();
    for (var step : misfit.getPath()) {
      path.append(
          step.getPropertyName() == null
              ? "[" + step.getIndex() + "]"
              : (path.isEmpty() ? "" : ".") + step.getPropertyName());
    }
    var reason = misfit instanceof Misfit ? misfit.getOriginalMessage() : wanted(misfit);
    return path.isEmpty() ? reason : path + ": " + reason;
  }

  private static String wanted(DatabindException misfit) {
    var type = misfit instanceof MismatchedInputException found ? found.getTargetType() : null;
    if (type == null) {
      return "this value does not fit here";
    }
    if (Collection.class.isAssignableFrom(type)) {
      return "a list is needed here, such as [one, two]";
    }
    if (Map.class.isAssignableFrom(type) || type.isRecord()) {
      return "settings are needed here, such as {name: value}";
    }
    if (type == Boolean.class || type == boolean.class) {
      return "true or false is needed here";
    }
    return Number.class.isAssignableFrom(type)
        ? "a number is needed here"
        : "this value does not fit here";
  }

  /// A value that cannot be used, and where it stands.
  private static final class Misfit extends DatabindException {
    private static final long serialVersionUID = 1L;

    Misfit(JsonParser yaml, String message) {
      super(yaml, message, yaml.currentTokenLocation());
    }
  }

  /// Where a setting stands that does not exist. Jackson has forgotten it: it reads the file again.
  private String line(Path file, UnknownSetting unknown) {
    var place = pointer(unknown) + "/" + unknown.name;
    try (var yaml = mapper().createParser(Files.readString(file))) {
      while (yaml.nextToken() != null) {
        if (yaml.currentToken() == JsonToken.PROPERTY_NAME
            && yaml.streamReadContext().pathAsPointer().toString().equals(place)) {
          return ", line " + yaml.currentTokenLocation().getLineNr();
        }
      }
    } catch (IOException | JacksonException unreadable) {
      // The message does without a line.
    }
    return "";
  }

  private static String pointer(DatabindException misfit) {
    var pointer = new StringBuilder();
    for (var step : misfit.getPath()) {
      pointer.append('/');
      pointer.append(
          step.getPropertyName() == null
              ? Integer.toString(step.getIndex())
              : step.getPropertyName());
    }
    return pointer.toString();
  }

  /// A setting that does not exist.
  private static final class UnknownSetting extends DatabindException {
    private static final long serialVersionUID = 1L;
    private final String name;

    UnknownSetting(JsonParser yaml, String name) {
      super(yaml, "there is no setting " + name);
      this.name = name;
    }
  }

  private static final class UnknownSettings extends DeserializationProblemHandler {
    @Override
    public boolean handleUnknownProperty(
        DeserializationContext context,
        JsonParser yaml,
        ValueDeserializer<?> reader,
        Object section,
        String name) {
      throw new UnknownSetting(yaml, name);
    }
  }

  private final class TextReader extends StdScalarDeserializer<String> {
    TextReader() {
      super(String.class);
    }

    @Override
    public String deserialize(JsonParser yaml, DeserializationContext context) {
      if (!yaml.currentToken().isScalarValue()) {
        throw new Misfit(yaml, "a text is needed here");
      }
      return expand(yaml.getString(), yaml);
    }
  }

  private final class DurationReader extends StdScalarDeserializer<Duration> {
    DurationReader() {
      super(Duration.class);
    }

    @Override
    public Duration deserialize(JsonParser yaml, DeserializationContext context) {
      if (!yaml.currentToken().isScalarValue()) {
        throw new Misfit(yaml, "a time is needed here, such as 300ms or 5m");
      }
      var parts = DURATION.matcher(expand(yaml.getString(), yaml));
      if (!parts.matches()) {
        throw new Misfit(yaml, "a time is a number and ms, s, m, h or d, such as 300ms or 5m");
      }
      if (parts.group(1) == null) {
        return Duration.ZERO;
      }
      var number = Long.parseLong(parts.group(1));
      return switch (parts.group(2)) {
        case "ms" -> Duration.ofMillis(number);
        case "s" -> Duration.ofSeconds(number);
        case "m" -> Duration.ofMinutes(number);
        case "h" -> Duration.ofHours(number);
        default -> Duration.ofDays(number);
      };
    }
  }
}
