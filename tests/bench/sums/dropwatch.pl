use strict;
use warnings;

my %counts;
while (<STDIN>) {
    my ($count, $place) = split / packets dropped at /;
    next unless defined $place;
    $counts{$place} += $count;
}
for (keys %counts) { my $count = $counts{$_}; chomp; print "$_\t$count\n" }
