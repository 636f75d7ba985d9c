// write_formats json|csv|openmetrics: two reports, the second of another recipe.
#include <iostream>
#include <string_view>
#include <vector>

#include "full_summary.h"
#include "report/csv/csv_report.h"
#include "report/json/json_report.h"
#include "report/openmetrics/openmetrics_report.h"

int main(int, char** argv) {
    using namespace stapgen;
    std::vector<analyze::Summary> reports{full_summary(), full_summary()};
    reports[1].recipe = "-other\\ \"recipe\"";
    const std::string_view format = argv[1];
    if (format == "csv") report::write_csv(std::cout, reports);
    if (format == "openmetrics") report::write_openmetrics(std::cout, reports);
    if (format == "json") {
        for (const auto& report : reports)
            report::write_json(std::cout, report, {.one_line = true});
    }
}
