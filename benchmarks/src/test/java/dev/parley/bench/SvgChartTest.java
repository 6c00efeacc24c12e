package dev.parley.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.bench.BenchmarkChart.ChartLine;
import dev.parley.bench.BenchmarkChart.ChartPoint;
import java.io.IOException;
import java.io.StringReader;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.xml.sax.InputSource;
import org.xml.sax.SAXException;

class SvgChartTest {

  private static final BenchmarkChart CHART =
      new BenchmarkChart(
          "example",
          "A & B < C",
          "contexts",
          "events/s",
          List.of(
              new ChartLine(
                  "Parley", List.of(new ChartPoint(1, 3_000), new ChartPoint(100, 120_000))),
              new ChartLine("bare file", List.of(new ChartPoint(1, 4_000)))));

  private static Document parsed(BenchmarkChart chart)
      throws ParserConfigurationException, IOException, SAXException {
    var source = new InputSource(new StringReader(SvgChart.of(chart)));
    return DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(source);
  }

  @Test
  void a_chart_is_well_formed_and_has_its_text_as_text() throws Exception {
    var document = parsed(CHART);

    assertThat(document.getDocumentElement().getTagName()).isEqualTo("svg");
    assertThat(document.getDocumentElement().getTextContent())
        .contains("A & B < C", "contexts", "events/s", "Parley", "bare file", "10,000");
    assertThat(document.getElementsByTagName("polyline").getLength()).isEqualTo(2);
    assertThat(document.getElementsByTagName("circle").getLength()).isEqualTo(3);
  }

  @Test
  void a_chart_without_points_is_well_formed() throws Exception {
    var document = parsed(new BenchmarkChart("empty", "Empty", "x", "y", List.of()));

    assertThat(document.getElementsByTagName("polyline").getLength()).isZero();
  }

  @Test
  void a_chart_has_colors_for_dark_pages() {
    assertThat(SvgChart.of(CHART)).contains("prefers-color-scheme: dark");
  }
}
